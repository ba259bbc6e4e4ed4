// quarter: a quarter of a ring between the radii 1 and 2, and with HEIGHT > 0 a quarter of a pipe; made by ./make.
DefineConstant[ HEIGHT = 0 ];
Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {2, 0, 0};
Point(4) = {0, 2, 0};
Point(5) = {0, 1, 0};
Line(1) = {2, 3};
Circle(2) = {3, 1, 4};
Line(3) = {4, 5};
Circle(4) = {5, 1, 2};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve {1, 3} = 2;
Transfinite Curve {2, 4} = 3;
Transfinite Surface {1};
Recombine Surface {1};
If (HEIGHT > 0)
  pipe[] = Extrude {0, 0, HEIGHT} { Surface{1}; Layers{1}; Recombine; };
  Physical Volume("pipe", 7) = {pipe[1]};
Else
  Physical Surface("ring", 5) = {1};
EndIf
