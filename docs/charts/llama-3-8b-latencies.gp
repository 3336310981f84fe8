# A chart of curves. gnuplot FILE > image
set encoding utf8
set decimalsign '.'
set terminal svg noenhanced size 1000,560 background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,13'
set lmargin at screen 0.082
set rmargin at screen 0.966
set tmargin at screen 0.87143
set bmargin at screen 0.14286
set xrange [0:100]
set xtics ("0" 0, "20" 20, "40" 40, "60" 60, "80" 80, "100" 100)
set xlabel "% of the requests within this time" textcolor rgb '#404040'
set logscale y
set yrange [6.999993:9000.009]
set ytics ("7" 7, "10" 10, "20" 20, "50" 50, "100" 100, "200" 200, "500" 500, "1000" 1000, "2000" 2000, "5000" 5000, "9000" 9000)
set ylabel "time (ms)" textcolor rgb '#404040'
set border 3 linewidth 1 linecolor rgb '#808080'
set tics nomirror textcolor rgb '#404040'
set grid xtics ytics back linetype 1 dashtype 1 linewidth 1 linecolor rgb '#e2e2e2'
unset key
set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0,0
$curve_1 << EOD
1 27.501982257973623
5 46.00909380864948
10 54.18391965997671
20 80.82250654720724
30 109.24776584613483
40 137.11240962041416
50 166.59605966557223
60 195.2641009123255
70 227.0675457185405
80 292.1402448073138
90 389.3698534672012
95 502.1013998118349
98 628.0771248581942
99 683.8561167658099
99.5 710.9969154590772
99.9 733.6746077316434
EOD
$curve_2 << EOD
1 7.318105369010945
5 8.808285438846328
10 9.854782953837784
20 11.60454082469465
30 13.104263669733964
40 14.37962503659648
50 15.97969746008632
60 17.995279521756164
70 20.60155686007007
80 25.617324110107553
90 30.83061527723728
95 33.60016018461977
98 35.57491249508583
99 37.182869998810844
99.5 37.44903190516465
99.9 38.87109361909539
EOD
$curve_3 << EOD
1 1562.8417675568187
5 1817.9825472635116
10 2054.4760820909573
20 2491.7260110824627
30 2838.4889367824258
40 3035.7431072282566
50 3412.060681136097
60 3800.753013175523
70 4283.007005191507
80 5376.02872916959
90 6283.989301028378
95 6815.950092132254
98 7436.306876055682
99 7605.5237773647095
99.5 7639.867889629386
99.9 7807.460862292174
EOD
set arrow from screen 0.082,0.55457 to screen 0.966,0.55457 nohead front linewidth 1.4 dashtype 4 linecolor rgb '#B00020'
set label "limit of the first token, p90" at screen 0.09,0.57243 left boxed front textcolor rgb '#B00020' font ',12'
set label "Llama-3-8B on one H100: latencies of requests in bursts" at screen 0.082,0.95714 left front textcolor rgb '#202020' font ',17'
set arrow from screen 0.082,0.91071 to screen 0.104,0.91071 nohead front linewidth 1.8 linecolor rgb '#0072B2'
set label '' at screen 0.093,0.91071 point pointtype 7 pointsize 0.9 linecolor rgb '#0072B2' front
set label "first token" at screen 0.11,0.91071 left front textcolor rgb '#202020' font ',12'
set arrow from screen 0.1892,0.91071 to screen 0.2112,0.91071 nohead front linewidth 1.8 linecolor rgb '#D55E00'
set label '' at screen 0.2002,0.91071 point pointtype 5 pointsize 0.9 linecolor rgb '#D55E00' front
set label "each further token" at screen 0.2172,0.91071 left front textcolor rgb '#202020' font ',12'
set arrow from screen 0.34704,0.91071 to screen 0.36904,0.91071 nohead front linewidth 1.8 linecolor rgb '#009E73'
set label '' at screen 0.35804,0.91071 point pointtype 9 pointsize 0.9 linecolor rgb '#009E73' front
set label "whole request" at screen 0.37504,0.91071 left front textcolor rgb '#202020' font ',12'
set label "generic scheduler\073 weights fp16, activations fp16, kv fp16" at screen 0.082,0.01786 left front textcolor rgb '#606060' font ',11'
plot \
  $curve_1 using 1:2 with linespoints linewidth 1.8 pointtype 7 pointsize 0.9 linecolor rgb '#0072B2', \
  $curve_2 using 1:2 with linespoints linewidth 1.8 pointtype 5 pointsize 0.9 linecolor rgb '#D55E00', \
  $curve_3 using 1:2 with linespoints linewidth 1.8 pointtype 9 pointsize 0.9 linecolor rgb '#009E73', \
  NaN notitle
