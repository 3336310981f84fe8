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
1 27.83031982815487
5 46.76072775811235
10 55.082572156408105
20 82.84331324196614
30 110.91677575173264
40 137.41111845953924
50 167.69741060458898
60 193.76967144009427
70 228.91848059367703
80 295.02334961918564
90 393.419013716354
95 503.88628638191335
98 620.0997606064504
99 674.7701495347087
99.5 691.4975132448831
99.9 770.5908505914891
EOD
$curve_2 << EOD
1 7.542726153830306
5 8.978609195429385
10 10.139021518189416
20 12.008089415569767
30 13.477977112455534
40 14.738123968040194
50 16.451807085733368
60 18.448698437321035
70 21.259148011166992
80 25.987376123706685
90 31.405507264734197
95 34.223503425652034
98 36.2295606419407
99 37.51898814656917
99.5 38.02593324965956
99.9 39.2050887055785
EOD
$curve_3 << EOD
1 1617.560088372386
5 1866.5505450399849
10 2123.761956374182
20 2584.8630207092924
30 2913.301243628922
40 3106.5936495128312
50 3502.1820829861954
60 3886.7013160526226
70 4442.893348719956
80 5455.923845170162
90 6395.08477594552
95 7019.012113535893
98 7527.059908474428
99 7674.960756302369
99.5 7707.926335795946
99.9 7891.675631521281
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
