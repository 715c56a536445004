import { Effect, Metric } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"

const memory = Metric.gauge("process_resident_memory_bytes", { description: "Memory of the process" })
const heap = Metric.gauge("nodejs_heap_used_bytes", { description: "JavaScript heap in use" })
const cpu = Metric.counter("process_cpu_seconds_total", { description: "CPU time of the process" })
const lag = Metric.gauge("nodejs_eventloop_lag_p99_seconds", {
  description: "Delay of the event loop since the last scrape"
})
const pause = Metric.gauge("nodejs_eventloop_pause_max_seconds", {
  description: "Longest pause of the event loop since the last scrape"
})
/** Sampling interval of the delay, in milliseconds. */
const resolution = 20

/** Returns an effect that updates the gauges of this process, for a scrape. */
export const make = Effect.gen(function*() {
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution })
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  )
  let counted = 0
  return Effect.gen(function*() {
    const { heapUsed, rss } = process.memoryUsage()
    const { system, user } = process.cpuUsage()
    yield* Metric.update(memory, rss)
    yield* Metric.update(heap, heapUsed)
    yield* Metric.update(cpu, (system + user) / 1e6 - counted)
    counted = (system + user) / 1e6
    yield* Metric.update(lag, delay.percentile(99) / 1e9)
    // A sample is the time between two checks of the loop.
    yield* Metric.update(pause, Math.max(0, delay.max / 1e9 - resolution / 1e3))
    delay.reset()
  })
})
