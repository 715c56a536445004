import { Effect } from "effect"
import WebSocket from "ws"
import type { Account } from "../cluster/Nodes.ts"
import type { Ledger } from "./Ledger.ts"
import type { NodeSlot } from "./Machines.ts"

/** Delay before a closed stream is reopened, in milliseconds. */
const reopenMillis = 1_000

const subjectOf = (event: string, payload: string): string => {
  if (event === "delete") return payload
  const { edited_at: editedAt, id } = JSON.parse(payload)
  return event === "status.update" ? `${id} ${editedAt}` : String(id)
}

/** Listens to a user's stream until the scope ends, on the nodes in turn, and records its events. */
export const listen = Effect.fnUntraced(
  function*(ledger: Ledger, slots: ReadonlyArray<NodeSlot>, { id, token }: Account, first: number) {
    let over = false
    let connection = first
    let socket: WebSocket | undefined
    const open = () => {
      if (over) return
      const slot = slots[connection % slots.length]!
      const number = connection
      connection += 1
      socket = new WebSocket(`${slot.baseUrl.replace("http", "ws")}/api/v1/streaming?stream=user`, token)
      socket.on("message", (data) => {
        const { event, payload } = JSON.parse(String(data))
        if (payload === undefined) return
        ledger.events.push({
          by: String(id),
          connection: number,
          at: ledger.now,
          event,
          target: subjectOf(event, payload)
        })
      })
      socket.on("error", () => socket?.terminate())
      socket.on("close", () => setTimeout(open, reopenMillis))
    }
    yield* Effect.acquireRelease(
      Effect.sync(open),
      () =>
        Effect.sync(() => {
          over = true
          socket?.terminate()
        })
    )
  }
)
