import { readFileSync } from "node:fs"

/** An instruction of a Containerfile, such as `RUN`, and the rest of its line. */
interface Instruction {
  readonly name: string
  readonly rest: string
}

/** Returns the instructions of a file in order; continued lines are joined, comments omitted. */
const instructionsOf = (text: string): ReadonlyArray<Instruction> =>
  text.replaceAll(/^\s*#.*\n/gm, "").replaceAll(/\\\n\s*/g, "").split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      return { name, rest }
    })

type Step = { readonly run: string } | { readonly copy: ReadonlyArray<string>; readonly to: string }

/** Effects of a Containerfile's instructions, as a container engine executes them; only those used here. */
export interface Image {
  readonly from: string
  /** Steps that change the root: shell commands, and copies from the context to a path. */
  readonly steps: ReadonlyArray<Step>
  readonly env: ReadonlyArray<string>
  readonly user: string
  readonly volume: string
  readonly healthcheck: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
}

/** Reads a Containerfile. Fails on unknown instructions, which would not be tested. */
export const readContainerfile = (path: string): Image => {
  const instructions = instructionsOf(readFileSync(path, "utf8"))
  const known = new Set("FROM RUN COPY ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK CMD".split(" "))
  const unknown = instructions.filter(({ name }) => !known.has(name))
  if (unknown.length > 0) throw new Error(`${path}: unknown instructions ${unknown.map(({ name }) => name).join(", ")}`)
  const of = (name: string) => instructions.filter((one) => one.name === name).map(({ rest }) => rest)
  const only = (name: string) => {
    const [rest, ...others] = of(name)
    if (rest === undefined || others.length > 0) throw new Error(`${path}: ${name} is expected once`)
    return rest
  }
  const list = (text: string): ReadonlyArray<string> => JSON.parse(text)
  return {
    from: only("FROM"),
    steps: instructions.flatMap(({ name, rest }): ReadonlyArray<Step> => {
      if (name === "RUN") return [{ run: rest }]
      if (name !== "COPY") return []
      const words = rest.split(" ")
      return [{ copy: words.slice(0, -1), to: words.at(-1) ?? "" }]
    }),
    env: of("ENV").flatMap((rest) => rest.split(" ")),
    user: only("USER"),
    volume: only("VOLUME"),
    healthcheck: list(only("HEALTHCHECK").replace(/^.* CMD /, "")),
    command: list(only("CMD"))
  }
}
