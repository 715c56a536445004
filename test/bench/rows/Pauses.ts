import sharp from "sharp"
import { bodies } from "../load/Bodies.ts"
import { token } from "../People.ts"
import { type Measured, median, type Row, sleep } from "../Row.ts"

/** F14: maximum pause that one body may cause for other requests, in milliseconds. */
const pauseTarget = 50
/** The first runs compile the code. */
const warmUps = 2
const tries = 5
/** Idle time after which the server has finished all work for earlier requests, in milliseconds. */
const idleMillis = 150

/**
 * Longest pause of the server's event loop for each kind of body, near every limit. The median of some tries counts,
 * because a busy machine pauses by itself; the first figure shows these pauses.
 */
export const pauses: Row = {
  name: "longest pause",
  measure: async ({ options, server }): Promise<ReadonlyArray<Measured>> => {
    const pixels = { create: { width: 3_000, height: 2_000, channels: 3 as const, background: "#a26" } }
    const file = new Uint8Array(await sharp(pixels).png({ compressionLevel: 0 }).toBuffer())
    const longest = async (act: () => Promise<unknown>) => {
      await server.child.ask({ kind: "pauses" })
      await act()
      await sleep(idleMillis)
      return Number(await server.child.ask({ kind: "longest pause" }))
    }
    const send = async ({ body, method, path, type }: ReturnType<typeof bodies>[number]) => {
      const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method,
        body: body(),
        headers: { authorization: `Bearer ${token(101)}`, ...(type !== undefined && { "content-type": type }) }
      })
      await reply.arrayBuffer()
    }
    const alone = []
    for (let run = 0; run < tries; run++) alone.push(await longest(() => sleep(idleMillis)))
    const figures: Record<string, number> = { "nothing sent, ms": median(alone) }
    for (const hard of bodies(file)) {
      for (let run = 0; run < (options.quick ? 1 : warmUps); run++) await send(hard)
      const found = []
      for (let run = 0; run < tries; run++) found.push(await longest(() => send(hard)))
      figures[`${hard.name}, ms`] = median(found)
    }
    const worst = Math.max(...Object.values(figures))
    return [{ name: "longest pause", figures, target: { text: `< ${pauseTarget} ms`, met: worst < pauseTarget } }]
  }
}
