; Threads that allocate at the same time, each with its own data, futures, and a child process.
(use-modules (ice-9 threads) (ice-9 futures) (ice-9 popen) (ice-9 rdelim))
(define rounds (string->number (cadr (command-line))))

(define (squares n) (map (lambda (i) (* i i)) (iota n)))
(define (work number)
  (let loop ((i 0) (sum 0))
    (if (= i (* rounds 30)) sum
        (loop (+ i 1) (+ sum (apply + (squares (+ 100 number))) (string-length (make-string 1000 #\a)))))))

(define threads (map (lambda (number) (call-with-new-thread (lambda () (work number)))) (iota 6)))
(for-each (lambda (thread) (display (join-thread thread)) (newline)) threads)
(display (par-map (lambda (x) (length (squares (* x 100)))) (iota 30))) (newline)
(define mutex (make-mutex))
(define total 0)
(n-par-for-each 4 (lambda (x) (with-mutex mutex (set! total (+ total x)))) (iota 1000))
(display total) (newline)
(define pipe (open-input-pipe "echo from a child"))
(display (read-line pipe)) (newline)
(close-pipe pipe)
(let ((child (primitive-fork)))
  (if (= child 0)
      (begin (display (work 1)) (newline) (force-output) (gc) (primitive-exit 0))
      (begin (waitpid child) (display "the child is done") (newline))))
