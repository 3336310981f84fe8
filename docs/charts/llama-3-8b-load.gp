# A chart of curves. gnuplot FILE > image
set encoding utf8
set decimalsign '.'
set terminal svg noenhanced size 1000,620 background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,13'
set lmargin at screen 0.082
set rmargin at screen 0.966
set tmargin at screen 0.88387
set bmargin at screen 0.12903
set xrange [0:25]
set xtics ("0" 0, "5" 5, "10" 10, "15" 15, "20" 20, "25" 25)
set xlabel "requests per second" textcolor rgb '#404040'
set logscale y
set yrange [5.999994:300.0003]
set ytics ("6" 6, "10" 10, "20" 20, "50" 50, "100" 100, "200" 200, "300" 300)
set ylabel "time (ms)" textcolor rgb '#404040'
set border 3 linewidth 1 linecolor rgb '#808080'
set tics nomirror textcolor rgb '#404040'
set grid xtics ytics back linetype 1 dashtype 1 linewidth 1 linecolor rgb '#e2e2e2'
unset key
set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0,0
$curve_1 << EOD
2.414235837410523 26.52815000010378
4.828471674821046 27.151606578058818
7.242707512231567 27.921231714287842
9.656943349642091 28.759794175527986
12.071179187052612 29.960716396914222
14.485415024463133 32.17211147162402
16.899650861873656 34.379937606559
19.313886699284183 38.21976383295578
21.728122536694702 48.912738745571005
22.935240455399963 52.868380700218154
24.142358374105225 57.65374077962804
EOD
$curve_2 << EOD
2.414235837410523 49.13864451373229
4.828471674821046 59.424140445344165
7.242707512231567 66.04498309258133
9.656943349642091 72.90343955494905
12.071179187052612 82.88925580353634
14.485415024463133 91.77809956477745
16.899650861873656 109.43410599637104
19.313886699284183 131.76951321182173
21.728122536694702 161.3859727387421
22.935240455399963 177.65048348189794
24.142358374105225 199.8916632257277
EOD
$curve_3 << EOD
2.414235837410523 6.553761524320573
4.828471674821046 7.054726024614239
7.242707512231567 7.651050480431527
9.656943349642091 8.360739043633147
12.071179187052612 9.29997952347327
14.485415024463133 10.661330204623221
16.899650861873656 12.344118251690334
19.313886699284183 14.57834301046558
21.728122536694702 17.69573566610173
22.935240455399963 19.899422115804867
24.142358374105225 22.980125185157622
EOD
$curve_4 << EOD
2.414235837410523 7.2875197503819535
4.828471674821046 8.15295003863911
7.242707512231567 8.936471147016897
9.656943349642091 10.006432093559486
12.071179187052612 11.413237063491684
14.485415024463133 13.10577337058648
16.899650861873656 15.152011996494839
19.313886699284183 18.084901592781552
21.728122536694702 22.52820869168254
22.935240455399963 25.75086793185045
24.142358374105225 31.302076982668293
EOD
set arrow from screen 0.082,0.80564 to screen 0.966,0.80564 nohead front linewidth 1.4 dashtype 4 linecolor rgb '#B00020'
set label "limit of the first token, p99" at screen 0.09,0.82176 left boxed front textcolor rgb '#B00020' font ',12'
set label "Llama-3-8B on one H100: latency over load" at screen 0.082,0.96129 left front textcolor rgb '#202020' font ',17'
set arrow from screen 0.082,0.91935 to screen 0.104,0.91935 nohead front linewidth 1.8 linecolor rgb '#0072B2'
set label '' at screen 0.093,0.91935 point pointtype 7 pointsize 0.9 linecolor rgb '#0072B2' front
set label "first token, p50" at screen 0.11,0.91935 left front textcolor rgb '#202020' font ',12'
set arrow from screen 0.2198,0.91935 to screen 0.2418,0.91935 nohead front linewidth 1.8 linecolor rgb '#D55E00'
set label '' at screen 0.2308,0.91935 point pointtype 5 pointsize 0.9 linecolor rgb '#D55E00' front
set label "first token, p99" at screen 0.2478,0.91935 left front textcolor rgb '#202020' font ',12'
set arrow from screen 0.3576,0.91935 to screen 0.3796,0.91935 nohead front linewidth 1.8 linecolor rgb '#009E73'
set label '' at screen 0.3686,0.91935 point pointtype 9 pointsize 0.9 linecolor rgb '#009E73' front
set label "each further token, p50" at screen 0.3856,0.91935 left front textcolor rgb '#202020' font ',12'
set arrow from screen 0.54604,0.91935 to screen 0.56804,0.91935 nohead front linewidth 1.8 linecolor rgb '#CC79A7'
set label '' at screen 0.55704,0.91935 point pointtype 11 pointsize 0.9 linecolor rgb '#CC79A7' front
set label "each further token, p99" at screen 0.57404,0.91935 left front textcolor rgb '#202020' font ',12'
set label "generic scheduler\073 weights fp16, activations fp16, kv fp16" at screen 0.082,0.01613 left front textcolor rgb '#606060' font ',11'
plot \
  $curve_1 using 1:2 with linespoints linewidth 1.8 pointtype 7 pointsize 0.9 linecolor rgb '#0072B2', \
  $curve_2 using 1:2 with linespoints linewidth 1.8 pointtype 5 pointsize 0.9 linecolor rgb '#D55E00', \
  $curve_3 using 1:2 with linespoints linewidth 1.8 pointtype 9 pointsize 0.9 linecolor rgb '#009E73', \
  $curve_4 using 1:2 with linespoints linewidth 1.8 pointtype 11 pointsize 0.9 linecolor rgb '#CC79A7', \
  NaN notitle
