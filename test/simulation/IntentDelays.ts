import { Effect, Schedule } from "effect"
import type { Shared, World } from "./World.ts"

/** Maximum wait of an intent while every node lives, in milliseconds: less than the agenda's interval. */
const waitMillisMax = 3_500
const lookPeriod = "500 millis"

/** I16: while all nodes live, the account that left an intent completes it, even after a commit of unknown outcome. */
export const watch = (world: World, { sql }: Shared) =>
  Effect.gen(function*() {
    const before = new Date(world.time.now - waitMillisMax)
    const late = yield* sql<{ id: bigint; kind: string }>`SELECT id, kind FROM fanouts WHERE created_at < ${before}`
    for (const { id, kind } of late) {
      const text = `I16: the intent ${kind} ${id} waited for more than ${waitMillisMax} ms, although no node was down`
      if (!world.wrong.includes(text)) world.wrong.push(text)
    }
  }).pipe(Effect.repeat(Schedule.spaced(lookPeriod)), Effect.orDie)
