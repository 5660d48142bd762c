; A Scheme in Scheme: an evaluator whose environments are lists of frames, each a list of bindings.

(define (find name env)
  (if (null? env)
      (error name)
      (let ((binding (assq name (car env))))
        (if binding binding (find name (cdr env))))))

(define (bind names values)
  (if (null? names)
      '()
      (cons (cons (car names) (car values)) (bind (cdr names) (cdr values)))))

(define (evaluate x env)
  (cond ((symbol? x) (cdr (find x env)))
        ((not (pair? x)) x)
        ((eq? (car x) 'quote) (cadr x))
        ((eq? (car x) 'if)
         (if (evaluate (cadr x) env)
             (evaluate (caddr x) env)
             (evaluate (cadr (cddr x)) env)))
        ((eq? (car x) 'lambda) (list 'closure (cadr x) (caddr x) env))
        ((eq? (car x) 'define)
         (let ((value (evaluate (caddr x) env)))
           (set-car! env (cons (cons (cadr x) value) (car env)))
           value))
        (else (call (evaluate (car x) env)
                    (map (lambda (argument) (evaluate argument env)) (cdr x))))))

(define (call f arguments)
  (if (pair? f)
      (let ((env (car (cdr (cddr f)))))
        (evaluate (caddr f) (cons (bind (cadr f) arguments) env)))
      (apply f arguments)))

(define world
  (list (list (cons '+ +) (cons '- -) (cons '* *) (cons '< <) (cons '= =)
              (cons 'cons cons) (cons 'car car) (cons 'cdr cdr) (cons 'null? null?))))

(evaluate '(define fib (lambda (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))) world)
(evaluate '(define each (lambda (f l) (if (null? l) (quote ()) (cons (f (car l)) (each f (cdr l)))))) world)
(display (evaluate '(each fib (quote (1 2 3 5 8 13))) world))
(newline)
