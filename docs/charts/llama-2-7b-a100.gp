# A roofline chart. gnuplot FILE > image
set encoding utf8
set decimalsign '.'
set terminal svg noenhanced size 1200,800 background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,13'
set lmargin at screen 0.065
set rmargin at screen 0.75658
set tmargin at screen 0.92
set bmargin at screen 0.0825
set logscale xy
set xrange [0.39988420867413255:3214.014598540146]
set yrange [0.4076819507432781:2496]
set format x '%g'
set format y '%g'
set border 3 linewidth 1 linecolor rgb '#808080'
set tics nomirror textcolor rgb '#404040'
set mxtics 10
set mytics 10
set grid xtics ytics back linetype 1 dashtype 1 linewidth 1 linecolor rgb '#e2e2e2'
set xlabel 'Arithmetic intensity (FLOP/byte)' textcolor rgb '#404040'
unset key
set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0,0
$matrix_1 << EOD
0.39988420867413255 0.8153639014865562
306.0323688082393 624

306.0323688082393 624
3214.014598540146 624

153.01618440411966 312
3214.014598540146 312

76.50809220205983 156
3214.014598540146 156

EOD
$vector_1 << EOD
9.563511525257478 19.5
3214.014598540146 19.5

4.757233938205003 9.7
3214.014598540146 9.7

EOD
$ridge_1 << EOD
306.0323688082393 624
153.01618440411966 312
76.50809220205983 156
9.563511525257478 19.5
4.757233938205003 9.7
EOD
$lines << EOD
133.00637567435018 271.2
3214.014598540146 271.2

EOD
$bound << EOD
0.9997559189650964 2.0385023187698317 1 7 0x800072B2 6 0x0072B2
15.92621394339452 32.473550230581424 1 7 0x800072B2 6 0x0072B2
1285.6058394160584 312 1 5 0x80D55E00 4 0xD55E00
512.25 312 1 5 0x80D55E00 4 0xD55E00
EOD
set object 1 rectangle from screen 0.065,0.92 to screen 0.52241,0.0825 behind fillcolor rgb '#EEF5FA' fillstyle solid noborder
set label "memory bound" at screen 0.2937,0.096 center front textcolor rgb '#767676' font ',11'
set object 2 rectangle from screen 0.52241,0.92 to screen 0.75658,0.0825 behind fillcolor rgb '#FBF2EC' fillstyle solid noborder
set label "compute bound" at screen 0.63949,0.096 center front textcolor rgb '#767676' font ',11'
set label "TFLOPS" at screen 0.01167,0.50125 center front textcolor rgb '#404040' font ',13' rotate by 90
set label "int8 624 TFLOPS, ridge 306" at screen 0.77492,0.78685 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.75825,0.78685 to screen 0.77158,0.78685 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp16 312 TFLOPS, ridge 153" at screen 0.77492,0.72028 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.75825,0.72028 to screen 0.77158,0.72028 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "measured GEMM 271.2 TFLOPS" at screen 0.77492,0.69778 left front textcolor rgb '#7F3C8D' font ',12'
set arrow from screen 0.75825,0.70682 to screen 0.77158,0.69778 nohead back linewidth 0.7 linecolor rgb '#7F3C8D'
set label "tf32 156 TFLOPS, ridge 76.51" at screen 0.77492,0.6537 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.75825,0.6537 to screen 0.77158,0.6537 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp32 vector 19.5 TFLOPS, ridge 9.564" at screen 0.77492,0.45398 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.75825,0.45398 to screen 0.77158,0.45398 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp64 vector 9.7 TFLOPS, ridge 4.757" at screen 0.77492,0.38691 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.75825,0.38691 to screen 0.77158,0.38691 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "2039 GB/s" at screen 0.09467,0.21247 center front textcolor rgb '#404040' font ',12' rotate by 39.77816
set label "decode attention +1 more" at screen 0.21983,0.23097 center boxed front textcolor rgb '#0072B2' font ',12'
set label "decode FFN, batch 16" at screen 0.27578,0.50908 center boxed front textcolor rgb '#0072B2' font ',12'
set label "prefill FFN" at screen 0.71451,0.75243 center boxed front textcolor rgb '#C35500' font ',12'
set arrow from screen 0.68611,0.72028 to screen 0.68611,0.74493 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "prefill attention" at screen 0.61534,0.7439 center boxed front textcolor rgb '#C35500' font ',12'
set label "Llama-2-7B on an A100: decode and prefill" at screen 0.065,0.97 left front textcolor rgb '#000000' font ',17'
set label "decode" at screen 0.08167,0.935 left front textcolor rgb '#202020' font ',13'
set label '' at screen 0.07167,0.935 point pointsize 1.11111 pointtype 7 linecolor rgb '#0072B2' front
set label "prefill" at screen 0.14798,0.935 left front textcolor rgb '#202020' font ',13'
set label '' at screen 0.13798,0.935 point pointsize 1.11111 pointtype 5 linecolor rgb '#D55E00' front
set label "dashed: vector unit" at screen 0.19553,0.935 left front textcolor rgb '#606060' font ',12'
plot \
  $vector_1 using 1:2 with lines linewidth 1.4 dashtype 2 linecolor rgb '#404040', \
  $matrix_1 using 1:2 with lines linewidth 1.8 linecolor rgb '#404040', \
  $ridge_1 using 1:2 with points pointtype 7 linecolor rgb '#404040' pointsize 0.55556, \
  $lines using 1:2 with lines linewidth 1.6 dashtype 4 linecolor rgb '#7F3C8D', \
  $bound using 1:2:3:4:5 with points pointsize variable pointtype variable linecolor rgb variable, \
  $bound using 1:2:3:6:7 with points linewidth 1.4 pointsize variable pointtype variable linecolor rgb variable, \
  NaN notitle
