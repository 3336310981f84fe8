# A roofline chart. gnuplot FILE > image
set encoding utf8
set decimalsign '.'
set terminal svg noenhanced size 1200,800 background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,13'
set lmargin at screen 0.065
set rmargin at screen 0.79308
set tmargin at screen 0.92
set bmargin at screen 0.15
set logscale xy
set xrange [0.075:6250]
set yrange [0.1125:40000]
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
0.075 0.6
1250 10000

1250 10000
6250 10000

312.5 2500
6250 2500

EOD
$vector_1 << EOD
EOD
$ridge_1 << EOD
1250 10000
312.5 2500
EOD
$lines << EOD
EOD
$bound << EOD
14.443586941196374 115.548695529571 3.16144 5 0x80D55E00 4 0xD55E00
3.5538997302711612 28.43119784216929 2.69978 7 0x800072B2 6 0x0072B2
0.9993873817541161 7.995099054032929 2.66182 7 0x800072B2 6 0x0072B2
117.42327150084317 939.3861720067454 1.90275 5 0x80D55E00 4 0xD55E00
0.1875 0.225 1.11963 5 0x80D55E00 4 0xD55E00
117.42327150084317 939.3861720067454 1.04166 7 0x800072B2 6 0x0072B2
EOD
set object 1 rectangle from screen 0.065,0.92 to screen 0.60058,0.15 behind fillcolor rgb '#EEF5FA' fillstyle solid noborder
set label "memory bound" at screen 0.33279,0.1635 center front textcolor rgb '#767676' font ',11'
set object 2 rectangle from screen 0.68966,0.92 to screen 0.79308,0.15 behind fillcolor rgb '#FBF2EC' fillstyle solid noborder
set label "compute bound" at screen 0.74137,0.1635 center front textcolor rgb '#767676' font ',11'
set label "TFLOPS" at screen 0.01167,0.535 center front textcolor rgb '#404040' font ',13' rotate by 90
set label "nvfp4 10000 TFLOPS, ridge 1250" at screen 0.81142,0.83648 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.79475,0.83648 to screen 0.80808,0.83648 nohead back linewidth 0.7 linecolor rgb '#404040'
set arrow from screen 0.78642,0.79473 to screen 0.79308,0.79473 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp8_e4m3 +6 more 5000 TFLOPS" at screen 0.81142,0.79473 left front textcolor rgb '#767676' font ',11'
set arrow from screen 0.79475,0.79473 to screen 0.80808,0.79473 nohead back linewidth 0.7 linecolor rgb '#8A8A8A'
set label "bf16 2500 TFLOPS, ridge 312.5" at screen 0.81142,0.75297 left front textcolor rgb '#404040' font ',12'
set arrow from screen 0.79475,0.75297 to screen 0.80808,0.75297 nohead back linewidth 0.7 linecolor rgb '#404040'
set arrow from screen 0.78642,0.71121 to screen 0.79308,0.71121 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "tf32 1250 TFLOPS" at screen 0.81142,0.71121 left front textcolor rgb '#767676' font ',11'
set arrow from screen 0.79475,0.71121 to screen 0.80808,0.71121 nohead back linewidth 0.7 linecolor rgb '#8A8A8A'
set arrow from screen 0.78642,0.58737 to screen 0.79308,0.58737 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp16 vector 160 TFLOPS" at screen 0.81142,0.58737 left front textcolor rgb '#767676' font ',11'
set arrow from screen 0.79475,0.58737 to screen 0.80808,0.58737 nohead back linewidth 0.7 linecolor rgb '#8A8A8A'
set arrow from screen 0.78642,0.54561 to screen 0.79308,0.54561 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp32 vector 80 TFLOPS" at screen 0.81142,0.54561 left front textcolor rgb '#767676' font ',11'
set arrow from screen 0.79475,0.54561 to screen 0.80808,0.54561 nohead back linewidth 0.7 linecolor rgb '#8A8A8A'
set arrow from screen 0.78642,0.50385 to screen 0.79308,0.50385 nohead back linewidth 0.7 linecolor rgb '#404040'
set label "fp64 vector and fp64 40 TFLOPS" at screen 0.81142,0.50385 left front textcolor rgb '#767676' font ',11'
set arrow from screen 0.79475,0.50385 to screen 0.80808,0.50385 nohead back linewidth 0.7 linecolor rgb '#8A8A8A'
set label "8000 GB/s" at screen 0.10469,0.31194 center front textcolor rgb '#404040' font ',12' rotate by 32.00608
set label "experts, o_proj +3 more, 50%" at screen 0.4188,0.48329 center boxed front textcolor rgb '#0072B2' font ',12'
set label "qkv_a_proj, q_b_proj +4 more, 48%" at screen 0.35235,0.40686 center boxed front textcolor rgb '#0072B2' font ',12'
set label "attention, 2%" at screen 0.60072,0.694 center boxed front textcolor rgb '#0072B2' font ',12'
set arrow from screen 0.53769,0.694 to screen 0.55509,0.694 nohead back linewidth 0.7 linecolor rgb '#909090'
set label "experts, 75%" at screen 0.46197,0.56776 center boxed front textcolor rgb '#C35500' font ',12'
set label "attention +2 more, 18%" at screen 0.45593,0.70143 center boxed front textcolor rgb '#C35500' font ',12'
set label "attn_all_reduce +1 more, 2%" at screen 0.22079,0.19176 center boxed front textcolor rgb '#C35500' font ',12'
set label "DeepSeek-R1 NVFP4 on four GB200: decode kernels at batch 1 and 128" at screen 0.065,0.97 left front textcolor rgb '#000000' font ',17'
set label "decode, batch 1" at screen 0.08167,0.935 left front textcolor rgb '#202020' font ',13'
set label '' at screen 0.07167,0.935 point pointsize 1.11111 pointtype 7 linecolor rgb '#0072B2' front
set label "decode, batch 128" at screen 0.19576,0.935 left front textcolor rgb '#202020' font ',13'
set label '' at screen 0.18576,0.935 point pointsize 1.11111 pointtype 5 linecolor rgb '#D55E00' front
set label "area and percent: share of the time" at screen 0.31372,0.935 left front textcolor rgb '#606060' font ',12'
set label "decode, batch 1 and 128, context 4096, tp 4, devices 4\073 weights as in checkpoint, activations nvfp4, out bf16, kv fp8_e4m3" at screen 0.065,0.0625 left front textcolor rgb '#606060' font ',11'
set label "38 operators below 1% of the time (together at most 4.5% of the bound) are not drawn" at screen 0.065,0.04 left front textcolor rgb '#606060' font ',11'
set label "6 operators without FLOPs or a known peak, at most 0.2% of the time, are not drawn" at screen 0.065,0.0175 left front textcolor rgb '#606060' font ',11'
plot \
  $vector_1 using 1:2 with lines linewidth 1.4 dashtype 2 linecolor rgb '#404040', \
  $matrix_1 using 1:2 with lines linewidth 1.8 linecolor rgb '#404040', \
  $ridge_1 using 1:2 with points pointtype 7 linecolor rgb '#404040' pointsize 0.55556, \
  $bound using 1:2:3:4:5 with points pointsize variable pointtype variable linecolor rgb variable, \
  $bound using 1:2:3:6:7 with points linewidth 1.4 pointsize variable pointtype variable linecolor rgb variable, \
  NaN notitle
