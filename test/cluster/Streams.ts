import { Effect } from "effect"
import WebSocket from "ws"
import type { Account, Node } from "./Nodes.ts"

/**
 * Opens the user's stream and records when each status arrived, in milliseconds of `performance.now()`. `address` is
 * the client's address as a trusted proxy reports it.
 */
export const listen = (node: Node, account: Account, address?: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const url = `${node.baseUrl.replace("http", "ws")}/api/v1/streaming?stream=user`
      const headers = address === undefined ? {} : { "x-forwarded-for": address }
      const socket = new WebSocket(url, account.token, { headers })
      const arrivals = new Map<string, Array<number>>()
      const waiting: Array<() => void> = []
      let closedAt: number | undefined
      const wake = () => waiting.splice(0).forEach((resume) => resume())
      socket.on("message", (data) => {
        const { event, payload } = JSON.parse(String(data))
        if (event !== "update") return
        const { id } = JSON.parse(payload)
        arrivals.set(id, [...arrivals.get(id) ?? [], performance.now()])
        wake()
      })
      socket.on("close", () => {
        closedAt = performance.now()
        wake()
      })
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
      const until = <A>(look: () => A | undefined) =>
        Effect.promise(async () => {
          for (let found = look();; found = look()) {
            if (found !== undefined) return found
            await new Promise<void>((resume) => waiting.push(resume))
          }
        })
      return {
        socket,
        arrivals: arrivals as ReadonlyMap<string, ReadonlyArray<number>>,
        /** Waits for the status; returns its first arrival. */
        arrival: (id: string) => until(() => arrivals.get(id)?.[0]),
        /** Waits until the server closes the stream; returns the time. */
        closed: until(() => closedAt)
      }
    }),
    ({ socket }) => Effect.sync(() => socket.terminate())
  )

export type Stream = Effect.Success<ReturnType<typeof listen>>
