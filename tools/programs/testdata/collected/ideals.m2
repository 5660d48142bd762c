S = ZZ/101[x,y,z,w]
J = ideal(x^3-y*z*w, y^3-x*z*w, z^3-x*y*w)
print betti res J
print toString gens gb J
T = new MutableHashTable
for i to 50000 do T#i = {i, toString i}
print sum apply(keys T, i -> #(T#i#1))
collectGarbage()
print sum for i to 20 list numgens source gens gb (J + ideal(w^(i+1)))
print (2^4000 % 1000000007)
exit 0
