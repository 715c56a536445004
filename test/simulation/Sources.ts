import { readFileSync } from "node:fs"
import { registerHooks } from "node:module"

/** A switchable bug in the program's source, which replaces a text that occurs `times` times in a file. */
export interface Planted {
  /** The file's path below `src`. */
  readonly file: string
  readonly from: string
  readonly times: number
  /** The replacement; `on` is an expression that is true while the bug is switched on. */
  readonly to: (on: string) => string
}

const addressOf = ({ file }: Planted) => new URL(`../../src/${file}`, import.meta.url).href
const switchedOn = "murmurationPlanted"

/** Returns the text with the bug; fails if the bug no longer matches the program. */
const planted = (text: string, name: string, { file, from, times, to }: Planted) => {
  const found = text.split(from).length - 1
  if (found !== times) throw new Error(`${file} has "${from}" ${found} times, not ${times}: ${name}`)
  return text.replaceAll(from, () => to(`(globalThis.${switchedOn} === ${JSON.stringify(name)})`))
}

/** Fails if a bug no longer matches the program. */
export const check = (name: string, bug: Planted) =>
  void planted(readFileSync(new URL(addressOf(bug)), "utf8"), name, bug)

/** Makes this process load the program with all bugs, switched off. No program module may be loaded before. */
export const plant = (bugs: ReadonlyMap<string, Planted>) => {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const wanted = [...bugs].filter(([, bug]) => addressOf(bug) === url)
      if (wanted.length === 0) return loaded
      return {
        ...loaded,
        source: wanted.reduce((text, [name, bug]) => planted(text, name, bug), String(loaded.source))
      }
    }
  })
}

/** Switches one bug on, and all others off. */
export const switchOn = (name: string | undefined) => Object.assign(globalThis, { [switchedOn]: name })
