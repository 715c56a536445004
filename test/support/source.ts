import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/**
 * A TypeScript file of the project: its path from the project's folder, its text, and the text split into code and
 * literals.
 */
export interface Source {
  readonly path: string
  readonly text: string
  /** Code without comments or the contents of strings, templates and regular expressions. */
  readonly code: string
  /** Contents of strings and templates. */
  readonly literals: ReadonlyArray<string>
  /** Regular expressions as written, with slashes and flags. */
  readonly patterns: ReadonlyArray<string>
}

const known = new Map<string, ReadonlyArray<Source>>()

/** Returns all TypeScript files below a project folder that run in Node; each folder is read once. */
export const sourcesIn = (folder: string): ReadonlyArray<Source> => {
  const found = known.get(folder) ?? read(folder)
  known.set(folder, found)
  return found
}

const read = (folder: string): ReadonlyArray<Source> =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".client.ts"))
    .map((name) => name.replaceAll("\\", "/"))
    .toSorted()
    .map((name) => {
      const text = readFileSync(`${root}${folder}/${name}`, "utf8")
      const { code, literals, patterns } = split(text)
      return { path: `${folder}/${name}`, text, code, literals, patterns }
    })

/** Code after which a slash begins a regular expression rather than a division; also the start of the file. */
const beforeRegExp = /(?:^|[(,=:[!&|?{};<>+*%~^-]|\breturn|\btypeof|\bcase|\bin|\bof)\s*$/

const split = (text: string): Omit<Source, "path" | "text"> => {
  let code = ""
  const literals: Array<string> = []
  const patterns: Array<string> = []
  let at = 0

  /** Skips past the delimiter and keeps the text before it. */
  const literal = (delimiter: string) => {
    const start = ++at
    while (at < text.length && text[at] !== delimiter) at += text[at] === "\\" ? 2 : 1
    literals.push(text.slice(start, at))
    code += "\"\""
    at++
  }
  const regExp = () => {
    const start = at
    let inClass = false
    for (at++; at < text.length && (inClass || text[at] !== "/") && text[at] !== "\n"; at++) {
      if (text[at] === "\\") at++
      else if (text[at] === "[") inClass = true
      else if (text[at] === "]") inClass = false
    }
    at++
    const flags = /^[a-z]*/.exec(text.slice(at, at + 8))?.[0] ?? ""
    patterns.push(text.slice(start, at) + flags)
    at += flags.length
    code += "\"\""
  }
  const template = () => {
    let content = ""
    at++
    code += "\""
    while (at < text.length && text[at] !== "`") {
      if (text[at] === "\\") {
        content += text.slice(at, at + 2)
        at += 2
      } else if (text.startsWith("${", at)) {
        at += 2
        content += "?"
        code += " "
        scan("}")
        at++
      } else {
        content += text[at++]
      }
    }
    literals.push(content)
    code += "\""
    at++
  }
  /** Scans code up to the closing bracket, or to the end. */
  const scan = (until: string | undefined) => {
    let depth = 0
    while (at < text.length) {
      const char = text[at]!
      if (char === until && depth === 0) return
      if (text.startsWith("//", at)) {
        at = text.indexOf("\n", at) === -1 ? text.length : text.indexOf("\n", at)
      } else if (text.startsWith("/*", at)) {
        at = text.indexOf("*/", at) + 2
      } else if (char === "\"" || char === "'") {
        literal(char)
      } else if (char === "`") {
        template()
      } else if (char === "/" && beforeRegExp.test(code)) {
        regExp()
      } else {
        if (char === "{") depth++
        if (char === "}") depth--
        code += char
        at++
      }
    }
  }
  scan(undefined)
  return { code, literals, patterns }
}

/** Returns the imports of a file: relative ones as paths from the project's folder, packages as written. */
export const importsOf = ({ path, text }: Source): ReadonlyArray<string> =>
  [...text.matchAll(/^(?:import|export) [^"=(]*"([^"]+)"|^\} from "([^"]+)"|\bimport\("([^"]+)"\)/gm)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? ""
    return specifier.startsWith(".") ? resolved(path, specifier) : specifier
  })

/** Resolves a relative import to a path from the project's folder. */
export const resolved = (path: string, specifier: string): string =>
  new URL(specifier, `file:///${path}`).pathname.slice(1)

/** Returns "path: what" for every finding of `find` in the files. */
export const complaints = (files: ReadonlyArray<Source>, find: (file: Source) => ReadonlyArray<string>) =>
  files.flatMap((file) => find(file).map((what) => `${file.path}: ${what}`))

export const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([found]) => found.trim())
