import sharp from "sharp"
import { bodies } from "../load/Bodies.ts"
import { token } from "../People.ts"
import { type Measured, median, type Row, sleep } from "../Row.ts"

/** F14: what one body may hold up everybody else, in milliseconds. */
const pauseTarget = 50
/** The first ones compile what they run. */
const warmUps = 2
const tries = 5
/** A server that did nothing for so long has nothing left to do for what was sent before, in milliseconds. */
const rest = 150

/**
 * The longest pause of the server's event loop for each kind of body that is read, near every bound: the median of some
 * tries, because a machine with other work has pauses of its own, of which the first figure tells.
 */
export const pauses: Row = {
  name: "longest pause",
  measure: async ({ options, stand }): Promise<ReadonlyArray<Measured>> => {
    const pixels = { create: { width: 3_000, height: 2_000, channels: 3 as const, background: "#a26" } }
    const file = new Uint8Array(await sharp(pixels).png({ compressionLevel: 0 }).toBuffer())
    const longest = async (act: () => Promise<unknown>) => {
      await stand.server.ask({ kind: "pauses" })
      await act()
      await sleep(rest)
      return Number(await stand.server.ask({ kind: "longest pause" }))
    }
    const send = async ({ body, method, path, type }: ReturnType<typeof bodies>[number]) => {
      const answer = await fetch(`http://127.0.0.1:${stand.port}${path}`, {
        method,
        body: body(),
        headers: { authorization: `Bearer ${token(101)}`, ...(type !== undefined && { "content-type": type }) }
      })
      await answer.arrayBuffer()
    }
    const alone = []
    for (let run = 0; run < tries; run++) alone.push(await longest(() => sleep(rest)))
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
