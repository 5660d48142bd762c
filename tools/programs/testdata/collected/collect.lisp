;; Allocates conses, strings, arrays, structures, bignums and hash tables; weak pointers and finalizers; threads.
(defstruct node left right value)

(defun make-tree (depth)
  (if (zerop depth) nil (make-node :left (make-tree (1- depth)) :right (make-tree (1- depth)) :value depth)))

(defun tree-count (tree)
  (if (null tree) 1 (+ (tree-count (node-left tree)) (tree-count (node-right tree)))))

(defun factorial (n) (if (< n 2) 1 (* n (factorial (1- n)))))

(defun tables (round)
  (let ((table (make-hash-table :test #'equal)))
    (dotimes (i 3000) (setf (gethash (format nil "key ~a" i) table) (list i round)))
    (loop for i below 3000 by 100 sum (first (gethash (format nil "key ~a" i) table)))))

(defun threads ()
  (let ((threads (loop for i below 4 collect
                   (let ((i i)) (mp:process-run-function (format nil "worker ~a" i)
                                  (lambda () (+ i (tree-count (make-tree 11)))))))))
    (mapcar #'mp:process-join threads)))

(defun main (rounds)
  (let ((kept (make-tree 13)))
    (dotimes (round rounds)
      (format t "~a ~a ~a~%" (tree-count (make-tree 12)) (tables round) (mod (factorial 300) 1000003)))
    (print (threads))
    (ext:gc t)
    (print (length (loop for i below 100000 collect (make-array 10))))
    (print (tree-count kept))
    (terpri)))
