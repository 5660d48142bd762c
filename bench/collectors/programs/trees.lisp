;; Structures, conses, strings, hash tables and bignums.
(defstruct node left right value)

(defun make-tree (depth)
  (if (zerop depth) nil (make-node :left (make-tree (1- depth)) :right (make-tree (1- depth)) :value depth)))

(defun tree-count (tree)
  (if (null tree) 1 (+ (tree-count (node-left tree)) (tree-count (node-right tree)))))

(defun table (round)
  (let ((table (make-hash-table :test #'equal)))
    (dotimes (i 2000) (setf (gethash (format nil "key ~a" i) table) (list i round)))
    (loop for i below 2000 by 100 sum (first (gethash (format nil "key ~a" i) table)))))

(let ((kept (make-tree 14)) (sum 0))
  (dotimes (round 40)
    (incf sum (+ (tree-count (make-tree 13)) (table round)))
    (incf sum (length (loop for i below 30000 collect (make-array 6)))))
  (format t "~a ~a~%" sum (tree-count kept)))
