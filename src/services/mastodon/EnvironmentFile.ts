/** Maximum characters of an environment file. */
export const environmentCharactersMax = 262_144

/** Parses the variables of an environment file: `NAME=value` a line, with or without quotes and `export`. */
export const parseEnvironment = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.slice(0, environmentCharactersMax).split(/\r?\n/).flatMap((line) => {
      const [, name, value = ""] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? []
      if (name === undefined) return []
      const trimmed = value.trim()
      const quoted = /^(["'])(.*)\1$/.exec(trimmed)
      return [[name, quoted?.[2] ?? (trimmed.split(/\s#/, 1)[0] ?? "").trimEnd()] as const]
    })
  )
