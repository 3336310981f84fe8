# A roofline chart. gnuplot FILE > image
set encoding utf8
set decimalsign '.'
set terminal svg noenhanced size 1200,800 background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,13'
set lmargin at screen 0.065
set rmargin at screen 0.74442
set tmargin at screen 0.92
set bmargin at screen 0.0725
set logscale xy
set xrange [0.06666666666666667:5625]
set yrange [0.26666666666666666:18000]
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
0.06666666666666667 0.5333333333333333
1125 9000

1125 9000
5625 9000

625 5000
5625 5000

562.5 4500
5625 4500

281.25 2250
5625 2250

156.25 1250
5625 1250

5 40
5625 40

EOD
$vector_1 << EOD
20 160
5625 160

10 80
5625 80

5 40
5625 40

EOD
$ridge_1 << EOD
1125 9000
625 5000
562.5 4500
281.25 2250
156.25 1250
20 160
10 80
5 40
5 40
EOD
$lines << EOD
EOD
$bound << EOD
14.459940605229228 115.67952484183382 3.3615 5 0xD55E00
3.554893513786443 28.439148110291544 2.93952 7 0x0072B2
0.9993087463912496 7.9944699711299965 2.42801 7 0x0072B2
432.4968944099379 2250 1.46402 5 0xD55E00
117.58851674641149 940.7081339712919 1.04165 5 0xD55E00
435.24852644124894 3481.9882115299915 1.01286 5 0xD55E00
56.888888888888886 455.11111111111114 0.97072 5 0xD55E00
432.4968944099379 2250 0.93589 7 0x0072B2
125.63217991878666 1005.0574393502933 0.86136 5 0xD55E00
0.16666666666666666 1.3333333333333335 0.8077 5 0xD55E00
367.001313280224 2936.010506241792 0.77585 5 0xD55E00
1.245136186770428 9.961089494163424 0.76858 5 0xD55E00
84.3216616119842 674.5732928958735 0.7472 5 0xD55E00
0.75 6 0.73861 5 0xD55E00
0.6666666666666666 5.333333333333333 0.71847 5 0xD55E00
0.16666666666666666 1.3333333333333335 0.71429 7 0x0072B2
0.8333333333333334 6.666666666666667 0.70873 7 0x0072B2
0.75 6 0.69096 7 0x0072B2
0.6666666666666666 5.333333333333333 0.68416 7 0x0072B2
2.3142857142857145 18.514285714285716 0.6758 5 0xD55E00
2.3142857142857145 18.514285714285716 0.66975 7 0x0072B2
EOD
$joins << EOD
EOD
set label "TFLOP/s" at screen 0.01167,0.49625 center front textcolor rgb '#404040' font ',13' rotate by 90
set label "mxfp4, nvfp4 9000 TFLOPS, ridge 1125" at screen 0.76275,0.86717 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74608,0.86717 to screen 0.75942,0.86717 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "int8 5000 TFLOPS, ridge 625" at screen 0.76275,0.82237 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74608,0.82237 to screen 0.75942,0.82237 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp8_e4m3 +5 4500 TFLOPS, ridge 562.5" at screen 0.76275,0.79987 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74608,0.81434 to screen 0.75942,0.79987 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "bf16, fp16 2250 TFLOPS, ridge 281.2" at screen 0.76275,0.76152 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74608,0.76152 to screen 0.75942,0.76152 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "tf32 1250 TFLOPS, ridge 156.2" at screen 0.76275,0.71672 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74608,0.71672 to screen 0.75942,0.71672 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp16 vector 160 TFLOPS, ridge 20" at screen 0.76275,0.56004 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74608,0.56004 to screen 0.75942,0.56004 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp32 vector 80 TFLOPS, ridge 10" at screen 0.76275,0.50721 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74608,0.50721 to screen 0.75942,0.50721 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp64 vector and fp64 40 TFLOPS, ridge 5" at screen 0.76275,0.45438 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.74608,0.45438 to screen 0.75942,0.45438 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "8000 GB/s" at screen 0.09999,0.19641 center front textcolor rgb '#404040' font ',12' rotate by 40.30739
set label "experts, o_proj +4" at screen 0.37649,0.42839 center boxed front textcolor rgb '#202020' font ',12'
set label "q_b_proj, lm_head, qkv_a_proj +3" at screen 0.34114,0.33167 center boxed front textcolor rgb '#202020' font ',12'
set label "attention" at screen 0.59076,0.73825 center boxed front textcolor rgb '#202020' font ',12'
set label "attn_norm, mlp_norm, q_a_norm +2" at screen 0.3172,0.30008 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.21628,0.31783 to screen 0.21683,0.30758 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "attn_add, mlp_add, shared_add" at screen 0.22731,0.19516 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.11988,0.19516 to screen 0.13606,0.19516 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "rope" at screen 0.19421,0.32527 center boxed front textcolor rgb '#202020' font ',12'
set label "shared_act, mlp_act" at screen 0.12602,0.30082 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.20292,0.30082 to screen 0.18685,0.30082 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "top_k" at screen 0.26483,0.41452 center boxed front textcolor rgb '#202020' font ',12'
set label "experts" at screen 0.42865,0.53532 center boxed front textcolor rgb '#202020' font ',12'
set label "attention" at screen 0.63354,0.78138 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.59076,0.76152 to screen 0.60313,0.77388 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "q_b_proj, qkv_a_proj" at screen 0.44293,0.70123 center boxed front textcolor rgb '#202020' font ',12'
set label "o_proj, shared_gate_up_proj +2" at screen 0.49204,0.80093 center boxed front textcolor rgb '#202020' font ',12'
set label "q_absorb, v_absorb" at screen 0.40557,0.64579 center boxed front textcolor rgb '#202020' font ',12'
set label "lm_head" at screen 0.54448,0.68867 center boxed front textcolor rgb '#202020' font ',12'
set label "shared_down_proj" at screen 0.50498,0.76844 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.58092,0.7818 to screen 0.55669,0.77594 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "attn_add, mlp_add, shared_add" at screen 0.20352,0.15854 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.11988,0.19516 to screen 0.11988,0.16604 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "router" at screen 0.46521,0.67545 center boxed front textcolor rgb '#202020' font ',12'
set label "rope" at screen 0.20997,0.27414 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.20997,0.3098 to screen 0.20997,0.28164 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "attn_norm, mlp_norm, q_a_norm +2" at screen 0.36326,0.36178 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.24034,0.34843 to screen 0.26288,0.35428 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "shared_act, mlp_act" at screen 0.12712,0.27517 center boxed front textcolor rgb '#202020' font ',12'
set arrow from screen 0.20292,0.30082 to screen 0.18795,0.28267 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "top_k" at screen 0.29936,0.38477 center boxed front textcolor rgb '#202020' font ',12'
set label "DeepSeek-R1 NVFP4 on a GB200: decode kernels at batch 1 and 128" at screen 0.065,0.97 left front textcolor rgb '#000000' font ',17'
set label "decode, batch 1" at screen 0.08167,0.935 left front textcolor rgb '#202020' font ',13'
set label '' at screen 0.07167,0.935 point pointsize 1.11111 pointtype 7 linecolor rgb '#0072B2' front
set label "decode, batch 128" at screen 0.19625,0.935 left front textcolor rgb '#202020' font ',13'
set label '' at screen 0.18625,0.935 point pointsize 1.11111 pointtype 5 linecolor rgb '#D55E00' front
set label "4 operators without FLOPs or a known peak, at most 0.1% of the time, are not shown" at screen 0.99,0.0175 right front textcolor rgb '#606060' font ',11'
plot \
  $vector_1 using 1:2 with lines linewidth 1.4 dashtype 2 linecolor rgb '#404040', \
  $matrix_1 using 1:2 with lines linewidth 1.8 linecolor rgb '#404040', \
  $ridge_1 using 1:2 with points pointtype 7 linecolor rgb '#404040' pointsize 0.55556, \
  $bound using 1:2:3:4:5 with points pointsize variable pointtype variable linecolor rgb variable, \
  NaN
