package bench

// Measuring redis-server: the server runs on the allocator, the client does not.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// redisSteps are the client's calls, one after the other; N becomes the number of requests.
var redisSteps = [][]string{
	{"-t", "set,get", "-n", "N", "-r", "60000", "-d", "120", "-P", "16"},
	{"-t", "lpush,hset,zadd", "-n", "N", "-r", "60000", "-d", "64", "-P", "16"},
	{"-n", "N", "-r", "60000", "-P", "16", "SETRANGE", "grow:__rand_int__", "700", "x"},
	{"-n", "N", "-r", "60000", "-P", "16", "DEL", "key:__rand_int__"},
}

const redisRequests = 100000

// serverEnd is how the server ended.
type serverEnd struct {
	outcome *Outcome
	err     error
}

// measureRedis starts a server on a free port, lets the client work and stops the server. The
// outcome is the server's, with the client's time as wall time.
func measureRedis(
	ctx context.Context, measurer *Measurer, preload string, scale int,
) (*Outcome, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	server, err := measurer.Start(ctx, preload, Command{Arguments: []string{
		"redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no",
		"--daemonize", "no", "--dir", measurer.Scratch,
	}})
	if err != nil {
		return nil, err
	}
	// A server that ends by itself ends the client's waiting too.
	clientCtx, serverEnded := context.WithCancel(ctx)
	defer serverEnded()
	ended := make(chan serverEnd, 1)
	go func() {
		outcome, err := server.Wait()
		ended <- serverEnd{outcome, err}
		serverEnded()
	}()
	seconds, clientErr := driveRedis(clientCtx, port, scale)
	if clientErr == nil {
		clientErr = redisClient(ctx, "redis-cli", "-p", port, "SHUTDOWN", "NOSAVE")
	}
	var end serverEnd
	select {
	case end = <-ended:
	default:
		if clientErr != nil {
			server.stop()
		}
		end = <-ended
	}
	if end.err == nil && (clientErr == nil || end.outcome.Failure() != "") {
		end.outcome.WallSeconds = seconds
		return end.outcome, nil
	}
	return nil, errors.Join(clientErr, end.err)
}

// driveRedis waits until the server answers and runs the steps. It returns the time of the steps.
func driveRedis(ctx context.Context, port string, scale int) (float64, error) {
	if err := awaitPort(ctx, port); err != nil {
		return 0, err
	}
	started := time.Now()
	requests := strconv.Itoa(max(1, redisRequests*scale/100))
	for _, step := range redisSteps {
		arguments := []string{"redis-benchmark", "-p", port, "-q", "-c", "50"}
		for _, argument := range step {
			if argument == "N" {
				argument = requests
			}
			arguments = append(arguments, argument)
		}
		if err := redisClient(ctx, arguments...); err != nil {
			return 0, err
		}
	}
	return time.Since(started).Seconds(), nil
}

func redisClient(ctx context.Context, arguments ...string) error {
	path := lookProgram(arguments[0])
	if path == "" {
		return fmt.Errorf("%s is missing: run apt-get install redis-tools", arguments[0])
	}
	command := exec.CommandContext(ctx, path, arguments[1:]...)
	command.Env = []string{"PATH=" + searchPath, "LC_ALL=C.UTF-8"}
	output, err := command.CombinedOutput()
	if err != nil || strings.Contains(string(output), "Error") {
		return fmt.Errorf("%s failed (%w): %s", strings.Join(arguments, " "), err,
			strings.TrimSpace(string(output)))
	}
	return nil
}

// awaitPort tries to connect until the server listens; at most 1000 tries of ten milliseconds.
func awaitPort(ctx context.Context, port string) error {
	var dialer net.Dialer
	var err error
	for range 1000 {
		var connection net.Conn
		connection, err = dialer.DialContext(ctx, "tcp", "127.0.0.1:"+port)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("redis-server does not listen on port %s: %w", port, err)
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}
