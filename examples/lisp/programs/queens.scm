; In how many ways can n queens stand on a board of n by n without a threat?

(define (safe? row distance placed)
  (or (null? placed)
      (and (not (= (car placed) row))
           (not (= (car placed) (+ row distance)))
           (not (= (car placed) (- row distance)))
           (safe? row (+ distance 1) (cdr placed)))))

(define (queens n)
  (define (place column placed)
    (if (= column 0)
        1
        (let loop ((rows (iota n)) (count 0))
          (if (null? rows)
              count
              (loop (cdr rows)
                    (if (safe? (car rows) 1 placed)
                        (+ count (place (- column 1) (cons (car rows) placed)))
                        count))))))
  (place n '()))

(display (map queens '(1 2 3 4 5 6)))
(newline)
