; Threads that allocate all the time, each with data that stays, weak tables and guardians, but for when the main thread
; makes a process: by fork and exec, or by fork alone. Then they wait: before a fork guile 3.0.8 ends the thread that runs
; finalizers and closes its pipe, which others that allocate meanwhile write to (SIGPIPE), or start it anew and wait for
; each other. clib/tests/gc/forks.c and fork_libc_locks.c fork amid allocation. It ends when time is up.
(use-modules (ice-9 threads) (ice-9 popen) (ice-9 rdelim))
(define end (+ (current-time) (string->number (cadr (command-line)))))
(define (is-over) (>= (current-time) end))
(define (need what true) (unless true (display "wrong: ") (display what) (newline) (primitive-_exit 1)))

; The main thread waits until all threads do, and makes a process.
(define workers 4)
(define waiting 0)
(define is-forking #f)
(define mutex (make-mutex))
(define changed (make-condition-variable))
(define (wait-for-forks)
  (with-mutex mutex
    (set! waiting (+ waiting 1))
    (broadcast-condition-variable changed)
    (let loop () (when is-forking (wait-condition-variable changed mutex) (loop)))
    (set! waiting (- waiting 1))))
(define (leave)
  (with-mutex mutex
    (set! workers (- workers 1))
    (broadcast-condition-variable changed)))
(define (while-all-wait thunk)
  (with-mutex mutex
    (set! is-forking #t)
    (let loop () (unless (= waiting workers) (wait-condition-variable changed mutex) (loop))))
  (thunk)
  (with-mutex mutex
    (set! is-forking #f)
    (broadcast-condition-variable changed)))

(define (tree depth) (if (= depth 0) '() (cons (tree (- depth 1)) (tree (- depth 1)))))
(define (leaves t) (if (null? t) 1 (+ (leaves (car t)) (leaves (cdr t)))))

(define (work number)
  (define kept (tree 12))
  (define table (make-hash-table))
  (define weak (make-weak-key-hash-table))
  (define guardian (make-guardian))
  (let loop ((round 0))
    (need "a tree" (= (leaves (tree 10)) 1024))
    (do ((i 0 (+ i 1))) ((= i 300))
      (let ((key (list number i)))
        (hash-set! table (modulo (* i round) 1000) (string-append "value " (number->string round)))
        (hashq-set! weak key (make-vector 10 i))
        (guardian key)))
    (let drain () (if (guardian) (drain)))
    (need "what is kept" (= (leaves kept) 4096))
    (when is-forking (wait-for-forks))
    (if (is-over) (begin (leave) round) (loop (+ round 1)))))

(define threads (map (lambda (number) (call-with-new-thread (lambda () (work number)))) (iota workers)))

(define (run-a-command number)
  (let* ((pipe (open-input-pipe (string-append "echo child " (number->string number)))) (line (read-line pipe)))
    (need line (string=? line (string-append "child " (number->string number))))
    (need "the status of a command" (= 0 (status:exit-val (close-pipe pipe))))))

(define (run-a-copy)
  (let ((child (primitive-fork)))
    (when (= child 0)
      (primitive-_exit (if (= (leaves (tree 12)) 4096) 7 8)))
    (need "the status of a copy" (= 7 (status:exit-val (cdr (waitpid child)))))))

(let loop ((number 0))
  (while-all-wait (lambda () (run-a-command number) (run-a-copy)))
  (usleep 100000)
  (unless (is-over) (loop (+ number 1))))
(for-each (lambda (thread) (need "a thread's rounds" (> (join-thread thread) 0))) threads)
(display "done") (newline)
