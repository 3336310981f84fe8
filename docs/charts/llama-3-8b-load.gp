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
2.372424838731598 26.757783686775838
4.744849677463196 27.43027654025809
7.117274516194793 28.0588135606763
9.489699354926392 28.86250408067781
11.862124193657989 30.401252311463622
14.234549032389586 32.560192864110604
16.606973871121184 34.87759650150224
18.979398709852784 37.926565667667944
21.35182354858438 48.610937372572494
22.53803596795018 52.56403212509042
23.724248387315978 57.054038279822805
EOD
$curve_2 << EOD
2.372424838731598 49.233933740538305
4.744849677463196 59.36344807491878
7.117274516194793 66.41305382993323
9.489699354926392 73.88986361587513
11.862124193657989 83.91460840454101
14.234549032389586 92.27979093023464
16.606973871121184 109.79988546860397
18.979398709852784 130.27426022719624
21.35182354858438 157.57085421163453
22.53803596795018 178.87413198303648
23.724248387315978 195.30868905195575
EOD
$curve_3 << EOD
2.372424838731598 6.7561279066783175
4.744849677463196 7.2670360575948765
7.117274516194793 7.869778815439935
9.489699354926392 8.593800337442403
11.862124193657989 9.5451544468402
14.234549032389586 10.909489749064731
16.606973871121184 12.57285885652898
18.979398709852784 14.751896748632007
21.35182354858438 17.74427896421664
22.53803596795018 19.843910861609896
23.724248387315978 22.62109190799929
EOD
$curve_4 << EOD
2.372424838731598 7.489948152392548
4.744849677463196 8.367775257169681
7.117274516194793 9.19010601682998
9.489699354926392 10.243674786434253
11.862124193657989 11.651374443273346
14.234549032389586 13.339905265838613
16.606973871121184 15.32004495321938
18.979398709852784 18.163359807592155
21.35182354858438 22.376085104358282
22.53803596795018 25.44439375919135
23.724248387315978 30.18643540959676
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
