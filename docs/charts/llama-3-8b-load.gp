# A chart of curves. gnuplot FILE > image
set encoding utf8
set decimalsign '.'
set terminal svg noenhanced size 1000,620 background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,13'
set lmargin at screen 0.082
set rmargin at screen 0.966
set tmargin at screen 0.88387
set bmargin at screen 0.1
set xrange [0:25]
set xtics ("0" 0, "5" 5, "10" 10, "15" 15, "20" 20, "25" 25)
set xlabel "requests per second" textcolor rgb '#404040'
set logscale y
set yrange [6:300]
set ytics ("10" 10, "20" 20, "50" 50, "100" 100, "200" 200)
set ylabel "time (ms)" textcolor rgb '#404040'
set border 3 linewidth 1 linecolor rgb '#808080'
set tics nomirror textcolor rgb '#404040'
set grid xtics ytics back linetype 1 dashtype 1 linewidth 1 linecolor rgb '#e2e2e2'
unset key
set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0,0
$curve_1 << EOD
2.362085724034983 27.03424328615256
4.724171448069966 27.6376870838817
7.086257172104948 28.291203102526197
9.448342896139932 29.164993756864988
11.810428620174914 30.540228726920304
14.172514344209896 33.22649768392694
16.534600068244877 35.564989588493745
18.896685792279865 39.05942738055046
21.258771516314845 49.735211283831404
22.439814378332336 53.747270060341634
23.620857240349828 58.33381329567544
EOD
$curve_2 << EOD
2.362085724034983 49.89316780597619
4.724171448069966 60.404380747201
7.086257172104948 66.77341018541938
9.448342896139932 74.104024635119
11.810428620174914 85.44092703431261
14.172514344209896 94.18919521300495
16.534600068244877 113.35523308326856
18.896685792279865 134.46991402720698
21.258771516314845 159.92402399322714
22.439814378332336 185.72917091609042
23.620857240349828 198.58652518379927
EOD
$curve_3 << EOD
2.362085724034983 6.7796099354464285
4.724171448069966 7.2902973664899395
7.086257172104948 7.8978458653627355
9.448342896139932 8.622431893415488
11.810428620174914 9.592820407508658
14.172514344209896 11.01765632618443
16.534600068244877 12.745942871791428
18.896685792279865 14.993477479225145
21.258771516314845 18.057746616866936
22.439814378332336 20.121995857530564
23.620857240349828 22.914777263546224
EOD
$curve_4 << EOD
2.362085724034983 7.520009878256283
4.724171448069966 8.403876253983734
7.086257172104948 9.216921969200067
9.448342896139932 10.313299672858347
11.810428620174914 11.775605083016814
14.172514344209896 13.485064536612025
16.534600068244877 15.600941313116396
18.896685792279865 18.500371537466815
21.258771516314845 22.607508939901365
22.439814378332336 25.70678526401834
23.620857240349828 30.76346172773022
EOD
set arrow from screen 0.082,0.80263 to screen 0.966,0.80263 nohead front linewidth 1.4 dashtype 4 linecolor rgb '#B00020'
set label "limit of the first token, p99" at screen 0.09,0.81875 left boxed front textcolor rgb '#B00020' font ',12'
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
plot \
  $curve_1 using 1:2 with linespoints linewidth 1.8 pointtype 7 pointsize 0.9 linecolor rgb '#0072B2', \
  $curve_2 using 1:2 with linespoints linewidth 1.8 pointtype 5 pointsize 0.9 linecolor rgb '#D55E00', \
  $curve_3 using 1:2 with linespoints linewidth 1.8 pointtype 9 pointsize 0.9 linecolor rgb '#009E73', \
  $curve_4 using 1:2 with linespoints linewidth 1.8 pointtype 11 pointsize 0.9 linecolor rgb '#CC79A7', \
  NaN notitle
