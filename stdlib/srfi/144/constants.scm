;;;> The base of natural logarithms, e.
(define fl-e 2.718281828459045235360287)
;;;> 1/e.
(define fl-1/e 0.3678794411714423215955238)
;;;> e to the power of 2.
(define fl-e-2 7.389056098930650227230427)
;;;> e to the power of π/4.
(define fl-e-pi/4 2.1932800507380154565597697)
;;;> The logarithm of e to base 2.
(define fl-log2-e 1.4426950408889634073599247)
;;;> The logarithm of e to base 10.
(define fl-log10-e 0.4342944819032518276511289)
;;;> The natural logarithm of 2.
(define fl-log-2 0.6931471805599453094172321)
;;;> 1 divided by the natural logarithm of 2.
(define fl-1/log-2 1.4426950408889634073599247)
;;;> The natural logarithm of 3.
(define fl-log-3 1.0986122886681096913952452)
;;;> The natural logarithm of π.
(define fl-log-pi 1.1447298858494001741434273)
;;;> The natural logarithm of 10.
(define fl-log-10 2.3025850929940456840179915)
;;;> 1 divided by the natural logarithm of 10.
(define fl-1/log-10 0.4342944819032518276511289)
;;;> π.
(define fl-pi 3.1415926535897932384626434)
;;;> 1/π.
(define fl-1/pi 0.3183098861837906715377675)
;;;> 2π.
(define fl-2pi 6.283185307179586476925287)
;;;> π/2.
(define fl-pi/2 1.5707963267948966192313217)
;;;> π/4.
(define fl-pi/4 0.7853981633974483096156608)
;;;> π squared.
(define fl-pi-squared 9.8696044010893586188344910)
;;;> A degree of arc, π/180.
(define fl-degree 0.0174532925199432957692369)
;;;> 2/π.
(define fl-2/pi 0.6366197723675813430755351)
;;;> 2 divided by the square root of π.
(define fl-2/sqrt-pi 1.1283791670955125738961589)
;;;> The square root of 2.
(define fl-sqrt-2 1.4142135623730950488016887)
;;;> The square root of 3.
(define fl-sqrt-3 1.7320508075688772935274463)
;;;> The square root of 5.
(define fl-sqrt-5 2.2360679774997896964091737)
;;;> The square root of 10.
(define fl-sqrt-10 3.1622776601683793319988935)
;;;> 1 divided by the square root of 2.
(define fl-1/sqrt-2 0.7071067811865475244008444)
;;;> The cube root of 2.
(define fl-cbrt-2 1.2599210498948731647672106)
;;;> The cube root of 3.
(define fl-cbrt-3 1.4422495703074083823216383)
;;;> The fourth root of 2.
(define fl-4thrt-2 1.1892071150027210667174999)
;;;> The golden ratio, φ.
(define fl-phi 1.6180339887498948482045868)
;;;> The natural logarithm of φ.
(define fl-log-phi 0.4812118250596034474977589)
;;;> 1 divided by the natural logarithm of φ.
(define fl-1/log-phi 2.0780869212350275376013226)
;;;> Euler's constant, γ.
(define fl-euler 0.5772156649015328606065121)
;;;> e to the power of γ.
(define fl-e-euler 1.7810724179901979852365041)
;;;> The sine of 1.
(define fl-sin-1 0.8414709848078965066525023)
;;;> The cosine of 1.
(define fl-cos-1 0.5403023058681397174009366)
;;;> The gamma function of 1/2.
(define fl-gamma-1/2 1.7724538509055160272981675)
;;;> The gamma function of 1/3.
(define fl-gamma-1/3 2.6789385347077476336556930)
;;;> The gamma function of 2/3.
(define fl-gamma-2/3 1.3541179394264004169452880)

;;;> The greatest finite flonum.
(define fl-greatest 1.7976931348623157e308)
;;;> The least flonum above zero.
(define fl-least 5e-324)
;;;> The distance from 1.0 to the next flonum.
(define fl-epsilon 2.220446049250313e-16)
;;;> Whether `fl+*` is about as fast as a multiplication and an addition: it is not, because it is
;;;> computed in software, the same on every processor.
(define fl-fast-fl+* #f)
;;;> The value of `flinteger-exponent` for zero.
(define fl-integer-exponent-zero -2147483648)
;;;> The value of `flinteger-exponent` for a NaN and for infinities.
(define fl-integer-exponent-nan 2147483647)
