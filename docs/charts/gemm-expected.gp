# A roofline chart. gnuplot FILE > image
set encoding utf8
set decimalsign '.'
set terminal svg noenhanced size 1200,800 background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,13'
set lmargin at screen 0.065
set rmargin at screen 0.73833
set tmargin at screen 0.92
set bmargin at screen 0.0725
set logscale xy
set xrange [0.39980478282088827:3413.333333333333]
set yrange [0.40760097608589557:1978.8]
set format x '%g'
set format y '%g'
set border 3 linewidth 1 linecolor rgb '#808080'
set tics nomirror textcolor rgb '#404040'
set mxtics 10
set mytics 10
set grid xtics ytics back linewidth 0.5 linecolor rgb '#e6e6e6'
set xlabel 'Arithmetic intensity (FLOP/byte)' textcolor rgb '#404040'
unset key
set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0,0
$matrix_1 << EOD
0.39980478282088827 0.8152019521717911
153.01618440411966 312

153.01618440411966 312
3413.333333333333 312

EOD
$vector_1 << EOD
EOD
$ridge_1 << EOD
153.01618440411966 312
EOD
$matrix_2 << EOD
0.39980478282088827 1.3393460224499758
295.34328358208955 989.4

295.34328358208955 989.4
3413.333333333333 989.4

EOD
$vector_2 << EOD
EOD
$ridge_2 << EOD
295.34328358208955 989.4
EOD
$lines << EOD
EOD
$bound << EOD
0.9995119570522206 2.0380048804294777 1 7 0x404040
3.992202729044834 8.140101364522417 1 7 0x404040
15.875968992248062 32.371100775193796 1 7 0x404040
62.06060606060606 126.54157575757577 1 7 0x404040
227.55555555555554 312 1 7 0x404040
682.6666666666666 312 1 7 0x404040
1365.3333333333333 312 1 7 0x404040
0.9995119570522206 3.348365056124939 1 7 0x0072B2
3.992202729044834 13.373879142300195 1 7 0x0072B2
15.875968992248062 53.18449612403101 1 7 0x0072B2
62.06060606060606 207.9030303030303 1 7 0x0072B2
227.55555555555554 762.311111111111 1 7 0x0072B2
682.6666666666666 989.4 1 7 0x0072B2
1365.3333333333333 989.4 1 7 0x0072B2
EOD
$joins << EOD
0.9995119570522206 2.0380048804294777
0.9995119570522206 1.3493141831728435

3.992202729044834 8.140101364522417
3.992202729044834 5.023721077473751

15.875968992248062 32.371100775193796
15.875968992248062 20.00896523196426

62.06060606060606 126.54157575757577
62.06060606060606 73.17079283630902

227.55555555555554 312
227.55555555555554 169.46630701186325

682.6666666666666 312
682.6666666666666 215.6196588344262

1365.3333333333333 312
1365.3333333333333 263.05505278615726

0.9995119570522206 3.348365056124939
0.9995119570522206 2.3475583570443104

3.992202729044834 13.373879142300195
3.992202729044834 9.370583973804106

15.875968992248062 53.18449612403101
15.875968992248062 37.314870793746685

62.06060606060606 207.9030303030303
62.06060606060606 145.19542710515407

227.55555555555554 762.311111111111
227.55555555555554 501.58925743657676

682.6666666666666 989.4
682.6666666666666 775.7790909698728

1365.3333333333333 989.4
1365.3333333333333 826.9737728815052

EOD
$reached << EOD
0.9995119570522206 1.3493141831728435 1 6 0x404040
3.992202729044834 5.023721077473751 1 6 0x404040
15.875968992248062 20.00896523196426 1 6 0x404040
62.06060606060606 73.17079283630902 1 6 0x404040
227.55555555555554 169.46630701186325 1 6 0x404040
682.6666666666666 215.6196588344262 1 6 0x404040
1365.3333333333333 263.05505278615726 1 6 0x404040
0.9995119570522206 2.3475583570443104 1 6 0x0072B2
3.992202729044834 9.370583973804106 1 6 0x0072B2
15.875968992248062 37.314870793746685 1 6 0x0072B2
62.06060606060606 145.19542710515407 1 6 0x0072B2
227.55555555555554 501.58925743657676 1 6 0x0072B2
682.6666666666666 775.7790909698728 1 6 0x0072B2
1365.3333333333333 826.9737728815052 1 6 0x0072B2
EOD
set label "TFLOP/s" at screen 0.01167,0.49625 center front textcolor rgb '#404040' font ',13' rotate by 90
set label "h100-sxm bf16 989.4 TFLOPS, ridge 295.3" at screen 0.75667,0.85079 left front textcolor rgb '#0072B2' font ',12'
set arrow from screen 0.74,0.85079 to screen 0.75333,0.85079 nohead back linewidth 0.7 linecolor rgb '#0072B2'
set label "a100-sxm-80gb bf16 312 TFLOPS, ridge 153" at screen 0.75667,0.73555 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74,0.73555 to screen 0.75333,0.73555 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "a100-sxm-80gb 2039 GB/s" at screen 0.13853,0.31892 center front textcolor rgb '#404040' font ',12' rotate by 41.82591
set label "h100-sxm 3350 GB/s" at screen 0.24023,0.45369 center front textcolor rgb '#0072B2' font ',12' rotate by 41.82591
set label "m=1" at screen 0.15084,0.22139 center boxed front textcolor rgb '#202020' font ',12'
set label "m=4" at screen 0.25385,0.35967 center boxed front textcolor rgb '#202020' font ',12'
set label "m=16" at screen 0.35916,0.49751 center boxed front textcolor rgb '#202020' font ',12'
set label "m=64" at screen 0.46057,0.63363 center boxed front textcolor rgb '#202020' font ',12'
set label "m=256" at screen 0.55985,0.74736 center boxed front textcolor rgb '#202020' font ',12'
set label "m=1024" at screen 0.6442,0.74736 center boxed front textcolor rgb '#202020' font ',12'
set label "m=4096" at screen 0.69576,0.74736 center boxed front textcolor rgb '#202020' font ',12'
set label "m=1" at screen 0.12283,0.33385 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.13316,0.28278 to screen 0.13316,0.32635 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "m=4" at screen 0.22583,0.47213 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.23616,0.42105 to screen 0.23616,0.46463 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "m=16" at screen 0.32712,0.57935 center boxed front textcolor rgb '#202020' font ',12'
set label "m=64" at screen 0.42853,0.71548 center boxed front textcolor rgb '#202020' font ',12'
set label "m=256" at screen 0.52365,0.84521 center boxed front textcolor rgb '#202020' font ',12'
set label "m=1024" at screen 0.6442,0.8626 center boxed front textcolor rgb '#202020' font ',12'
set label "m=4096" at screen 0.69576,0.8626 center boxed front textcolor rgb '#202020' font ',12'
set label "A GEMM of 4096 x 4096 with 1 to 4096 rows: bound and expected" at screen 0.065,0.97 left front textcolor rgb '#000000' font ',17'
set label "gemm" at screen 0.08167,0.935 left front textcolor rgb '#202020' font ',13'
set label '' at screen 0.07167,0.935 point pointsize 1.11111 pointtype 7 linecolor rgb '#606060' front
set label "filled: bound\073 hollow: measured or expected" at screen 0.11933,0.935 left front textcolor rgb '#606060' font ',12'
plot \
  $vector_1 using 1:2 with lines linewidth 1.4 dashtype 2 linecolor rgb '#404040', \
  $matrix_1 using 1:2 with lines linewidth 1.8 linecolor rgb '#404040', \
  $ridge_1 using 1:2 with points pointtype 7 linecolor rgb '#404040' pointsize 0.55556, \
  $vector_2 using 1:2 with lines linewidth 1.4 dashtype 2 linecolor rgb '#0072B2', \
  $matrix_2 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072B2', \
  $ridge_2 using 1:2 with points pointtype 7 linecolor rgb '#0072B2' pointsize 0.55556, \
  $joins using 1:2 with lines linewidth 1.2 linecolor rgb '#808080', \
  $reached using 1:2:3:4:5 with points linewidth 1.6 pointsize variable pointtype variable linecolor rgb variable, \
  $bound using 1:2:3:4:5 with points pointsize variable pointtype variable linecolor rgb variable, \
  NaN
