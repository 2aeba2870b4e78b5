// SPDX-License-Identifier: Apache-2.0
// What of Java meets the system: threads, signals (its own SIGSEGV too), processes, maps, sockets, collectors.
import java.io.*;
import java.net.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;

public class Peer {
	interface Test {
		Object run() throws Throwable;
	}

	static void tell(String name, Test test) {
		Object outcome;
		try {
			outcome = test.run();
		} catch (Throwable error) {
			outcome = "throws " + error.getClass().getName();
		}
		System.out.println(name + "\t" + outcome);
	}

	static int depth(int n) {
		return 1 + depth(n + 1);
	}

	static Object stackOverflow() {
		int caught = 0;
		for (int i = 0; i < 20; i++) {
			try {
				depth(0);
			} catch (StackOverflowError error) {
				caught++;
			}
		}
		return caught;
	}

	static Object overflowInThreads() throws Exception {
		AtomicInteger caught = new AtomicInteger();
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < 8; i++)
			threads.add(new Thread(null, () -> {
				if (stackOverflow().equals(20))
					caught.incrementAndGet();
			}, "small", 256 << 10));
		for (Thread thread : threads)
			thread.start();
		for (Thread thread : threads)
			thread.join();
		return caught;
	}

	static Object nullPointers() {
		String[] nothing = new String[1];
		int caught = 0;
		for (int i = 0; i < 100000; i++) {
			try {
				caught += nothing[0].length();
			} catch (NullPointerException error) {
				caught++;
			}
		}
		return caught;
	}

	static Object garbage() {
		long sum = 0;
		List<byte[]> kept = new LinkedList<>();
		for (int i = 0; i < 20000; i++) {
			kept.add(new byte[10000]);
			if (kept.size() > 1000)
				sum += kept.remove(0).length;
		}
		System.gc();
		return sum;
	}

	static Object outOfMemory() {
		try {
			List<long[]> kept = new ArrayList<>();
			while (true)
				kept.add(new long[1 << 20]);
		} catch (OutOfMemoryError error) {
			return "caught";
		}
	}

	static Object processes() throws Exception {
		StringBuilder said = new StringBuilder();
		for (int i = 0; i < 20; i++) {
			Process child = new ProcessBuilder("/bin/sh", "-c", "read x; echo $x; exit " + i).redirectErrorStream(true).start();
			try (Writer in = child.outputWriter()) {
				in.write("line " + i + "\n");
			}
			said.append(new String(child.getInputStream().readAllBytes()).trim()).append(child.waitFor());
		}
		Process slow = new ProcessBuilder("sleep", "60").start();
		slow.destroyForcibly();
		return said.toString().hashCode() + " " + slow.waitFor();
	}

	static Object itself() throws Exception {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		Process child = new ProcessBuilder(java, "-version").redirectErrorStream(true).start();
		child.getInputStream().readAllBytes();
		return child.waitFor();
	}

	static Object threads() throws Exception {
		ConcurrentHashMap<Integer, Integer> counts = new ConcurrentHashMap<>();
		ExecutorService pool = Executors.newFixedThreadPool(16);
		for (int i = 0; i < 100000; i++) {
			int key = i % 101;
			pool.submit(() -> counts.merge(key, 1, Integer::sum));
		}
		pool.shutdown();
		pool.awaitTermination(60, TimeUnit.SECONDS);
		for (int i = 0; i < 500; i++) {
			Thread thread = new Thread(() -> counts.merge(-1, 1, Integer::sum));
			thread.start();
			thread.join();
		}
		return counts.values().stream().mapToInt(n -> n).sum();
	}

	static Object interrupts() throws Exception {
		Thread sleeper = new Thread(() -> {
			try {
				Thread.sleep(60000);
			} catch (InterruptedException expected) {
				return;
			}
		});
		sleeper.start();
		sleeper.interrupt();
		sleeper.join(10000);
		return sleeper.isAlive();
	}

	static Object maps() throws Exception {
		Path path = Files.createTempFile(Path.of("."), "peer", "map");
		try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			MappedByteBuffer map = file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20);
			for (int i = 0; i < map.capacity(); i += 4096)
				map.putInt(i, i);
			map.force();
			file.truncate(4096);
			try {
				return map.getInt(1 << 19); // the file is shorter: SIGBUS, which becomes an InternalError
			} catch (InternalError error) {
				return "caught";
			}
		} finally {
			Files.delete(path);
		}
	}

	static Object sockets() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			Thread echo = new Thread(() -> {
				try (Socket one = server.accept()) {
					one.getInputStream().transferTo(one.getOutputStream());
				} catch (IOException error) {
					throw new UncheckedIOException(error);
				}
			});
			echo.start();
			try (Socket one = new Socket(server.getInetAddress(), server.getLocalPort())) {
				one.getOutputStream().write(new byte[100000], 0, 50000);
				one.shutdownOutput();
				int n = one.getInputStream().readAllBytes().length;
				echo.join();
				return n;
			}
		}
	}

	static Object signals() throws Exception {
		CountDownLatch came = new CountDownLatch(3);
		sun.misc.Signal.handle(new sun.misc.Signal("USR2"), signal -> came.countDown());
		for (int i = 0; i < 3; i++) {
			sun.misc.Signal.raise(new sun.misc.Signal("USR2"));
			Thread.sleep(50);
		}
		return came.await(10, TimeUnit.SECONDS);
	}

	static Object parallelStreams() {
		return IntStream.range(0, 3000000).parallel().mapToObj(i -> "x" + i).mapToLong(String::hashCode).sum();
	}

	public static void main(String[] args) {
		tell("stack_overflow", Peer::stackOverflow);
		tell("overflow_in_threads", Peer::overflowInThreads);
		tell("null_pointers", Peer::nullPointers);
		tell("garbage", Peer::garbage);
		tell("out_of_memory", Peer::outOfMemory);
		tell("processes", Peer::processes);
		tell("itself", Peer::itself);
		tell("threads", Peer::threads);
		tell("interrupts", Peer::interrupts);
		tell("maps", Peer::maps);
		tell("sockets", Peer::sockets);
		tell("signals", Peer::signals);
		tell("parallel_streams", Peer::parallelStreams);
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("shutdown_hook\tran")));
		System.exit(7);
	}
}
