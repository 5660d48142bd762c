; Strings, hash tables, association lists, vectors, bignums and closures; a third of what is made lives a while.
(use-modules (ice-9 hash-table) (srfi srfi-1))

(define (words count)
  (map (lambda (i) (string-append "word-" (number->string (modulo (* i 7919) 10007)))) (iota count)))

(define (count-words list)
  (let ((table (make-hash-table)))
    (for-each (lambda (word) (hash-set! table word (+ 1 (hash-ref table word 0)))) list)
    (hash-fold (lambda (word count sum) (+ sum (* count (string-length word)))) 0 table)))

(define (factorial n) (if (< n 2) 1 (* n (factorial (- n 1)))))
(define (closures n) (map (lambda (i) (lambda (x) (+ x i))) (iota n)))

(define kept (make-vector 30 '()))
(define sum 0)
(do ((round 0 (+ round 1))) ((= round 200))
  (let ((list (words 4000)))
    (set! sum (+ sum (count-words list)))
    (vector-set! kept (modulo round 30) (list-head list 1500)))
  (set! sum (+ sum (modulo (factorial 400) 1000003)))
  (set! sum (+ sum (fold (lambda (add x) (add x)) 0 (closures 5000))))
  (set! sum (+ sum (vector-length (list->vector (map (lambda (x) (cons x x)) (iota 5000))))))
  (set! sum (+ sum (string-length (string-join (words 1000) " ")))))
(display (list sum (fold + 0 (map length (vector->list kept)))))
(newline)
