# A chart of curves. gnuplot FILE > image
set encoding utf8
set decimalsign '.'
set terminal svg noenhanced size 1000,560 background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,13'
set lmargin at screen 0.082
set rmargin at screen 0.966
set tmargin at screen 0.87143
set bmargin at screen 0.11071
set xrange [0:100]
set xtics ("0" 0, "20" 20, "40" 40, "60" 60, "80" 80, "100" 100)
set xlabel "% of the requests within this time" textcolor rgb '#404040'
set logscale y
set yrange [7:9000]
set ytics ("10" 10, "100" 100, "1000" 1000)
set ylabel "time (ms)" textcolor rgb '#404040'
set border 3 linewidth 1 linecolor rgb '#808080'
set tics nomirror textcolor rgb '#404040'
set grid xtics ytics back linetype 1 dashtype 1 linewidth 1 linecolor rgb '#e2e2e2'
unset key
set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0,0
$curve_1 << EOD
1 27.78256099668397
5 46.07960213886031
10 56.12004739990084
20 81.73734808383415
30 111.17895400357725
40 136.2106099028324
50 170.1575794115513
60 194.43608314006156
70 227.70375601598403
80 296.7988422654457
90 393.6735844057182
95 503.65861434389103
98 629.1731660627278
99 687.2768675016516
99.5 719.0768631367632
99.9 736.9824128875138
EOD
$curve_2 << EOD
1 7.542712788196953
5 8.978601389723671
10 10.151624745631052
20 11.980731412911714
30 13.477294643194352
40 14.723293710450442
50 16.429156970436434
60 18.446101954538822
70 21.24215989143847
80 26.043076195071706
90 31.31871151461882
95 34.20484351662127
98 36.18739671145177
99 37.50171593214836
99.5 37.985280131209436
99.9 39.18846970972566
EOD
$curve_3 << EOD
1 1617.5351558956947
5 1868.4292720860612
10 2125.21187743485
20 2575.86373903203
30 2911.952881997749
40 3104.3539111853133
50 3499.6143813083618
60 3887.2054526808456
70 4440.28201006256
80 5449.896040582161
90 6376.03563484631
95 7014.49021226199
98 7501.681088677686
99 7670.671719785133
99.5 7704.565089763122
99.9 7888.444411881182
EOD
set arrow from screen 0.082,0.54059 to screen 0.966,0.54059 nohead front linewidth 1.4 dashtype 4 linecolor rgb '#B00020'
set label "limit of the first token, p90" at screen 0.09,0.55845 left boxed front textcolor rgb '#B00020' font ',12'
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
plot \
  $curve_1 using 1:2 with linespoints linewidth 1.8 pointtype 7 pointsize 0.9 linecolor rgb '#0072B2', \
  $curve_2 using 1:2 with linespoints linewidth 1.8 pointtype 5 pointsize 0.9 linecolor rgb '#D55E00', \
  $curve_3 using 1:2 with linespoints linewidth 1.8 pointtype 9 pointsize 0.9 linecolor rgb '#009E73', \
  NaN notitle
