(define (tree depth) (if (= depth 0) '() (cons (tree (- depth 1)) (tree (- depth 1)))))
(define (leaves t) (if (null? t) 1 (+ (leaves (car t)) (leaves (cdr t)))))
(write (leaves (tree 10)))
(newline)
