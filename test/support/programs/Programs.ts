import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import * as Apt from "./Apt.ts"

/** A program that tests need besides Node. */
interface Program {
  /** Name for messages. */
  readonly name: string
  /** Package name for `apt-get install`. */
  readonly debianPackage: string
  /** Returns its name or path; `undefined` if it is missing. */
  readonly find: () => string | undefined
  /** True if the other tests can run without it. */
  readonly optional?: boolean
}

const succeeds = (command: string, ...args: ReadonlyArray<string>) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0

/** Finds the first of these names that is on the PATH. */
const onPath = (...names: ReadonlyArray<string>) => () =>
  names.map((name) => spawnSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim())
    .find((path) => path !== "")

/** Debian's servers are in a folder that is only on the PATH of root. */
const inSbin = (name: string) => () => [`/usr/sbin/${name}`].find(existsSync) ?? onPath(name)()

const python = "/usr/bin/python3"

const programs = {
  redis: { name: "redis-server", debianPackage: "redis-server", find: onPath("redis-server", "valkey-server") },
  chromium: {
    name: "Chromium",
    debianPackage: "chromium",
    find: onPath("chromium", "chromium-browser", "google-chrome")
  },
  /** A text-only browser. */
  w3m: { name: "w3m", debianPackage: "w3m", find: onPath("w3m") },
  ffmpeg: { name: "ffmpeg", debianPackage: "ffmpeg", find: onPath("ffmpeg") },
  ffprobe: { name: "ffprobe", debianPackage: "ffmpeg", find: onPath("ffprobe") },
  /** OpenStack Swift, an independent S3 implementation. The program found is the Python that can import it. */
  swift: {
    name: "OpenStack Swift",
    debianPackage: "python3-swift",
    find: () => (existsSync(python) && succeeds(python, "-c", "import swift") ? python : undefined)
  },
  nginx: { name: "nginx", debianPackage: "nginx-light", optional: true, find: inSbin("nginx") },
  caddy: { name: "caddy", debianPackage: "caddy", optional: true, find: inSbin("caddy") },
  apache: { name: "apache2", debianPackage: "apache2-bin", optional: true, find: inSbin("apache2") },
  haproxy: { name: "haproxy", debianPackage: "haproxy", optional: true, find: inSbin("haproxy") },
  snac: {
    name: "snac2",
    debianPackage: "snac2",
    optional: true,
    find: () => {
      const named = process.env["SNAC_BINARY"]
      return named !== undefined && existsSync(named) ? named : onPath("snac")()
    }
  }
} satisfies Record<string, Program>

const missing = () => Object.values<Program>(programs).filter(({ find }) => find() === undefined)

const packagesOf = (some: ReadonlyArray<Program>) => [...new Set(some.map(({ debianPackage }) => debianPackage))]

const words = (lacking: ReadonlyArray<Program>, reason: string) =>
  [
    `Tests need ${lacking.map(({ name }) => name).join(", ")}: ${reason}`,
    `Install what is missing and run them again. Debian: apt-get install ${packagesOf(lacking).join(" ")}`
  ].join("\n")

/**
 * Looks for the programs that the tests need besides Node. Installs missing ones in one call of apt if this process
 * may. Runs once, before any test.
 *
 * @param mayInstall true if this process may install packages
 * @returns message for the people who run the tests, with apt's output, if a required program is still missing
 */
export const provide = (mayInstall = Apt.mayInstall()): string | undefined => {
  const before = missing()
  if (before.length === 0) return undefined
  const needed = before.filter(({ optional }) => optional !== true)
  if (!mayInstall) {
    return needed.length === 0
      ? undefined
      : words(needed, "not found, and only root on Debian may have them installed.")
  }
  const outcome = Apt.install(packagesOf(needed), packagesOf(before.filter(({ optional }) => optional === true)))
  const after = missing().filter(({ optional }) => optional !== true)
  return after.length === 0 ? undefined : words(after, `apt-get could not install them:\n${outcome.words.trim()}`)
}

/** Returns the path of a program; `undefined` is possible for optional ones. */
export const find = (key: keyof typeof programs): string | undefined => programs[key].find()

/** Returns the path of a program that the tests require. */
export const path = (key: keyof typeof programs): string => {
  const found = find(key)
  if (found === undefined) throw new Error(words([programs[key]], "not found."))
  return found
}
