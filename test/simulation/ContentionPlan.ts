import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import { StatusId } from "../../src/services/database/Ids.ts"
import { Commands } from "../../src/services/intents/Commands.ts"
import { post } from "../support/Posts.ts"
import type { Known, Plan } from "./Scenario.ts"
import { Dice } from "./Seeded.ts"
import type { Shared, World } from "./World.ts"

/** Number of first commands, which publish the posts that later commands refer to. */
const firstMax = 3
/** Number of commands per wave, which share a theme, and the pause between waves, in milliseconds. */
const waveCommands = 12
const pauseMillis = 2_500
/** Number of commands per burst, its length, and the pause between bursts, in milliseconds. */
const burstCommands = 6
const burstMillis = 5
const burstPauseMillis = 400
/** Number of commands with a theme. */
const commandsMax = 100
/** Maximum account takeovers in a run. */
const takeOversMax = 24
/** Milliseconds after the start of a wave within which takeovers happen. */
const takeOverMillis = 1_000

const waveOf = (n: number) => n < firstMax ? 0 : 1 + Math.floor((n - firstMax) / waveCommands)

/** Themes of waves of commands, so that commands of a wave contend for the same rows. */
const themes = ["posts", "poll", "ring", "posts", "everything"] as const

/** Plans many accounts that act on the same few posts, polls and people at the same time. */
export const make = ({ accounts, outcomes, published, world }: Known): Plan => {
  const themesOf = new Dice(world.seed, "themes")
  const themeOfWave = Array.from({ length: 1 + waveOf(commandsMax) }, () => themesOf.pick(themes))
  const themeOf = (n: number) => themeOfWave[waveOf(n)] ?? "everything"
  /** Returns a command's position in its wave. */
  const placeOf = (n: number) => (n - firstMax) % waveCommands

  const burstOf = (n: number) => Math.floor(placeOf(n) / (themeOf(n) === "ring" ? 3 : burstCommands))
  const waits = (dice: Dice, n: number) =>
    n < firstMax ? 0 : waveOf(n) * pauseMillis + burstOf(n) * burstPauseMillis + dice.between(0, burstMillis)
  const who: Plan["who"] = (dice, n) => {
    if (n < firstMax) return accounts[n]!
    // In a ring, three accounts follow each other; in polls, all but the author vote.
    if (themeOf(n) === "ring") return accounts[placeOf(n) % 3]!
    return themeOf(n) === "poll" ? dice.pick(accounts.slice(1)) : dice.pick(accounts)
  }
  const draw: Plan["draw"] = (dice, account, n) => {
    const publish = (text: string, more?: Parameters<typeof post>[1]): Command => ({
      _tag: "Publish",
      post: post(text, more)
    })
    const poll = { options: ["x", "y", "z"], seconds: 3_600, multiple: true, hideTotals: false }
    if (n < firstMax) return n === 0 ? publish(`what? ${n}`, { poll }) : publish(`post ${n}`)
    const theme = themeOf(n)
    const hot = published.slice(0, firstMax)
    const own = published.filter(({ author }) => author === account).map(({ id }) => id)
    const about = { statusId: hot.length === 0 ? StatusId.make(0n) : dice.pick(hot).id }
    const question = hot.find(({ author }) => author === accounts[0])?.id ?? about.statusId
    const next = accounts[(accounts.indexOf(account) + 1) % 3]!
    const target = dice.pick(accounts.filter((other) => other !== account))
    const did = (tag: Command["_tag"]) => outcomes.some((one) => one.account === account && one.command._tag === tag)
    const votes = theme === "poll" ? 60 : theme === "everything" && account !== accounts[0] ? 8 : 0
    // All three accounts of a ring unfollow the next one at once, and later follow it again.
    if (theme === "ring") {
      return burstOf(n) % 2 === 0
        ? { _tag: "Unfollow", target: next }
        : { _tag: "Follow", target: next, reblogs: true, notify: false, languages: null }
    }
    const relations = theme === "everything" ? 1 : 0
    return dice.weighted<Command>([
      [4, publish(`re ${n}`, { inReplyToId: about.statusId })],
      [1, publish(`post ${n}`)],
      [12, { _tag: "Favourite", ...about }],
      [did("Favourite") ? 6 : 1, { _tag: "Unfavourite", ...about }],
      [8, { _tag: "Reblog", ...about, visibility: null }],
      [did("Reblog") ? 4 : 1, { _tag: "Unreblog", ...about }],
      [votes, { _tag: "Vote", statusId: question, choices: [dice.between(0, 3)] }],
      [8 * relations, { _tag: "Follow", target, reblogs: true, notify: false, languages: null }],
      [8 * relations, { _tag: "Unfollow", target }],
      [2 * relations, { _tag: "Block", target }],
      [2 * relations, { _tag: "Unblock", target }],
      [own.length > 0 ? 1 : 0, { _tag: "Delete", statusId: dice.pick(own.length > 0 ? own : [about.statusId]) }]
    ])
  }
  return { waits, who, draw }
}

/** Lets other nodes take an account over at times while its owner works. */
export const takeOver = Effect.fnUntraced(
  function*(world: World, { sql }: Shared, { accounts }: Pick<Known, "accounts">) {
    const dice = new Dice(world.seed, "takeovers")
    const services = yield* Layer.build(Commands.layer).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    const began = world.time.now
    const times = Array.from(
      { length: takeOversMax },
      () => dice.between(1, 4) * pauseMillis + dice.between(0, takeOverMillis)
    )
    for (
      const time of times.toSorted((a, b) => a - b)
    ) {
      yield* Effect.sleep(Math.max(0, began + time - world.time.now))
      const account = dice.pick(accounts)
      yield* Effect.forkChild(Effect.ignore(Effect.provideContext(
        Commands.use(({ takeOver }) => takeOver(account)),
        services
      )))
      world.count("takeover")
    }
  }
)
