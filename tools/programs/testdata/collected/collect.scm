; Allocates much, keeps some, and uses what the collector does for weak tables, guardians and ports.
(define rounds (string->number (cadr (command-line))))

(define (tree depth) (if (= depth 0) '() (cons (tree (- depth 1)) (tree (- depth 1)))))
(define (leaves t) (if (null? t) 1 (+ (leaves (car t)) (leaves (cdr t)))))

(define kept (tree 15))
(define table (make-hash-table))
(do ((round 0 (+ round 1))) ((= round rounds))
  (display (leaves (tree 14))) (newline)
  (do ((i 0 (+ i 1))) ((= i 20000))
    (hash-set! table i (string-append "value " (number->string (* i round)))))
  (display (apply string-append (map (lambda (n) (hash-ref table n)) (iota 20)))) (newline))
(display (leaves kept)) (newline)

(define (bignums n) (let loop ((i 1) (product 1)) (if (> i n) product (loop (+ i 1) (* product i)))))
(display (modulo (bignums 600) 1000003)) (newline)

(define guardian (make-guardian))
(do ((i 0 (+ i 1))) ((= i 1000)) (guardian (list i i)))
(gc) (gc)
(define (saved count) (if (guardian) (saved (+ count 1)) count))
(display (> (saved 0) 900)) (newline)

(define weak (make-weak-key-hash-table))
(define keys (map (lambda (i) (list 'key i)) (iota 100)))
(for-each (lambda (key) (hashq-set! weak key (cadr key))) keys)
(do ((i 0 (+ i 1))) ((= i 5000)) (hashq-set! weak (list i) i))
(gc) (gc)
(display (apply + (map (lambda (key) (hashq-ref weak key)) keys))) (newline)
(display (< (length (hash-map->list cons weak)) 1000)) (newline)

(define text (call-with-output-string (lambda (port) (do ((i 0 (+ i 1))) ((= i 5000)) (write i port)))))
(display (string-length text)) (newline)
(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
(display (deep 100000)) (newline)
(display (call/cc (lambda (k) (for-each (lambda (x) (if (> x 5) (k x))) (iota 10)) #f))) (newline)
