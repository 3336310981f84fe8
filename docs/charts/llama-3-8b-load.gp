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
2.362085724034983 27.02224759832461
4.724171448069966 27.61451388516889
7.086257172104948 28.1971976502291
9.448342896139932 29.207876709421043
11.810428620174914 30.55593677760271
14.172514344209896 32.807167351194266
16.534600068244877 34.98612746550123
18.896685792279865 38.433466618585044
21.258771516314845 48.66966116813387
22.439814378332336 53.25819909739948
23.620857240349828 57.35593972190145
EOD
$curve_2 << EOD
2.362085724034983 48.952584778476194
4.724171448069966 60.52207041170732
7.086257172104948 67.90609017963334
9.448342896139932 73.88543834451866
11.810428620174914 84.88685209186997
14.172514344209896 92.48791236427678
16.534600068244877 109.40899653898839
18.896685792279865 129.93251780713422
21.258771516314845 161.91449597324947
22.439814378332336 179.6133589701583
23.620857240349828 199.89074787481798
EOD
$curve_3 << EOD
2.362085724034983 6.788168531089633
4.724171448069966 7.3005620223786085
7.086257172104948 7.908688034514005
9.448342896139932 8.63666279749864
11.810428620174914 9.597630469197805
14.172514344209896 10.966156877733464
16.534600068244877 12.639326134413023
18.896685792279865 14.841091590867208
21.258771516314845 17.869743605688708
22.439814378332336 19.932099044623396
23.620857240349828 22.76096372503996
EOD
$curve_4 << EOD
2.362085724034983 7.526731153161769
4.724171448069966 8.407879913836302
7.086257172104948 9.229684825831256
9.448342896139932 10.29733625886132
11.810428620174914 11.714381125149151
14.172514344209896 13.40755411764653
16.534600068244877 15.441753101662496
18.896685792279865 18.304911699965317
21.258771516314845 22.506800354501927
22.439814378332336 25.59294443614364
23.620857240349828 30.362812777457805
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
