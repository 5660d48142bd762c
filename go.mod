module granary

go 1.26
