import { Effect, Queue } from "effect"
import { WebSocket } from "ws"
import { type Person, TestServer } from "./Server.ts"

/**
 * Opens a `user` stream on the server under test; `more` extends its query. `next` waits for an event whose name has
 * this start.
 */
export const watching = Effect.fnUntraced(function*({ token }: Person, more = "") {
  const { baseUrl } = yield* TestServer
  const frames = yield* Queue.unbounded<readonly [event: string, payload: string]>()
  const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/api/v1/streaming?stream=user${more}`, [token])
  yield* Effect.addFinalizer(() => Effect.sync(() => socket.terminate()))
  socket.on("message", (data) => {
    const { event, payload } = JSON.parse(String(data))
    Queue.offerUnsafe(frames, [event, payload])
  })
  yield* Effect.callback<void>((resume) => {
    socket.on("open", () => resume(Effect.void))
  })
  const next = (name: string): Effect.Effect<readonly [event: string, payload: string]> =>
    Effect.flatMap(Queue.take(frames), (frame) => frame[0].startsWith(name) ? Effect.succeed(frame) : next(name))
  return { next }
})
