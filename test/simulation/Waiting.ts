import { Effect, Schedule } from "effect"
import type { Shared, World } from "./World.ts"

/** How long an intent may wait while every node is there, in milliseconds: less than until the agenda looks for it. */
const waitMillisMax = 3_500
const lookPeriod = "500 millis"

/** I16: where all nodes live, whoever left an intent works it off, also after a commit of which nothing was heard. */
export const watch = (world: World, { sql }: Shared) =>
  Effect.gen(function*() {
    const before = new Date(world.time.now - waitMillisMax)
    const late = yield* sql<{ id: bigint; kind: string }>`SELECT id, kind FROM fanouts WHERE created_at < ${before}`
    for (const { id, kind } of late) {
      const text = `I16: the intent ${kind} ${id} waited for more than ${waitMillisMax} ms, though no node was away`
      if (!world.wrong.includes(text)) world.wrong.push(text)
    }
  }).pipe(Effect.repeat(Schedule.spaced(lookPeriod)), Effect.orDie)
