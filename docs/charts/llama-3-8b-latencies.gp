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
set xlabel "% of the requests that take no longer" textcolor rgb '#404040'
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
1 28.536492803425517
5 47.86804857624816
10 56.13606142648564
20 83.12294393638808
30 112.65432110472773
40 139.25093668339628
50 170.82295872363318
60 200.81911697658938
70 233.79880671622288
80 306.2699284334798
90 398.9089065051985
95 519.1439401477282
98 640.7090466531855
99 698.5954894561672
99.5 732.2419745074171
99.9 750.1176625195427
EOD
$curve_2 << EOD
1 7.5760258586339955
5 9.039665026323371
10 10.183865859482465
20 12.104249129093024
30 13.60586807296139
40 14.942772088206564
50 16.66288465798528
60 18.60825837871257
70 21.716977426769148
80 26.754806911161374
90 31.82322458445297
95 34.9799954866235
98 36.60920183573033
99 37.947115289406995
99.5 38.53339895448285
99.9 39.763697099699364
EOD
$curve_3 << EOD
1 1622.4242629444063
5 1879.1879265358773
10 2140.889965787892
20 2622.9481376511217
30 2945.1184011854893
40 3145.499222950093
50 3559.043888976383
60 3940.150977395291
70 4524.296824689813
80 5540.0839675504585
90 6470.065397535301
95 7129.438464697728
98 7640.088578838402
99 7777.47671587349
99.5 7823.424000953622
99.9 7987.535697197501
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
