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
1 28.31318679540118
5 46.40670897714472
10 55.887686460039276
20 84.95297298364335
30 111.90054140928396
40 138.70865886482875
50 167.46810962132486
60 195.61196242190704
70 231.93554698568164
80 298.78599022856633
90 393.6183367176227
95 507.34256316110304
98 633.0699882364144
99 674.2993986181176
99.5 728.72091172772
99.9 742.3477024356657
EOD
$curve_2 << EOD
1 7.5814222502335245
5 9.031828538367886
10 10.186179172983396
20 12.086089849514448
30 13.546142372750602
40 14.915534611251735
50 16.582953189403277
60 18.498180184487477
70 21.60507507657447
80 26.595334317977347
90 31.642919082724514
95 34.5646792158561
98 36.60487563187949
99 37.590956479918496
99.5 38.40931734031424
99.9 39.58798230513993
EOD
$curve_3 << EOD
1 1625.0518218645311
5 1878.196246788434
10 2139.678658652969
20 2613.3067659831395
30 2941.4730144862774
40 3140.790832422681
50 3529.482960493965
60 3928.4712985297433
70 4472.9896309081805
80 5502.462221614223
90 6437.0161571555755
95 7083.3645371624525
98 7567.361384687871
99 7732.869006274114
99.5 7765.479690325208
99.9 7949.8386276474375
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
