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
2.382809208895287 26.81454470950939
4.765618417790574 27.610283385513412
7.14842762668586 28.115864339383734
9.531236835581147 28.884324170803666
11.914046044476434 30.439505727855476
14.29685525337172 32.72291386434745
16.679664462267006 34.83858264192463
19.062473671162294 38.38295222735155
21.445282880057583 48.91322740243709
22.636687484505224 52.843479935631876
23.828092088952868 58.07520396626842
EOD
$curve_2 << EOD
2.382809208895287 49.240340341611954
4.765618417790574 60.89564686931226
7.14842762668586 67.09223508687501
9.531236835581147 73.12771393492312
11.914046044476434 83.19330548363268
14.29685525337172 92.65978531834662
16.679664462267006 111.82681749269818
19.062473671162294 134.40310824626778
21.445282880057583 156.7888887738178
22.636687484505224 179.17510441225204
23.828092088952868 199.51933140275457
EOD
$curve_3 << EOD
2.382809208895287 6.759736737728129
4.765618417790574 7.272672586315305
7.14842762668586 7.878980341107266
9.531236835581147 8.607610801666922
11.914046044476434 9.570820792181056
14.29685525337172 10.950002133817625
16.679664462267006 12.635676289072787
19.062473671162294 14.856101516143877
21.445282880057583 17.89720079560983
22.636687484505224 20.0044954694712
23.828092088952868 22.926911687859352
EOD
$curve_4 << EOD
2.382809208895287 7.491879423763858
4.765618417790574 8.36359109760065
7.14842762668586 9.202933565444397
9.531236835581147 10.262254156131903
11.914046044476434 11.68884794829289
14.29685525337172 13.371173237523703
16.679664462267006 15.441201178439417
19.062473671162294 18.33558013097385
21.445282880057583 22.63971089494416
22.636687484505224 25.76573282390523
23.828092088952868 30.7879590293474
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
