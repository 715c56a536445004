import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"

/** Seconds to wait for another apt run on this machine. */
const lockSeconds = 600

/** Result of an apt call: `words` is apt's output, for diagnosis. */
export interface Outcome {
  readonly ok: boolean
  readonly words: string
}

const run = (program: string, args: ReadonlyArray<string>): Outcome => {
  const { error, status, stderr, stdout } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" }
  })
  const words = [stdout, stderr, error?.message].filter((text) => text !== undefined && text !== "").join("\n")
  return { ok: status === 0, words }
}

/** Returns true if this process can install packages: it has Debian's tools and root rights. */
export const mayInstall = (): boolean => process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")

/**
 * Runs apt with its own lists and sources in a temporary folder. The machine's sources stay unchanged, and concurrent
 * readers of its lists are not disturbed.
 */
const withLists = <A>(
  use: (apt: {
    readonly get: (...args: ReadonlyArray<string>) => Outcome
    readonly known: (name: string) => boolean
    readonly addSource: (lines: string) => void
  }) => A
): A => {
  const folder = mkdtempSync(`${tmpdir()}/murmuration-apt-`)
  try {
    // Apt reads the folder as another user.
    chmodSync(folder, 0o755)
    for (const name of ["lists/partial", "sources"]) mkdirSync(`${folder}/${name}`, { recursive: true })
    if (existsSync("/etc/apt/sources.list.d")) {
      cpSync("/etc/apt/sources.list.d", `${folder}/sources`, { recursive: true })
    }
    const options = [
      "-o",
      `Dir::Etc::sourceparts=${folder}/sources`,
      "-o",
      `Dir::State::lists=${folder}/lists`,
      "-o",
      `DPkg::Lock::Timeout=${lockSeconds}`,
      "-o",
      "Acquire::Retries=3"
    ]
    return use({
      get: (...args) => run("apt-get", [...options, ...args]),
      known: (name) => / Candidate: (?!\(none\))/.test(run("apt-cache", [...options, "policy", name]).words),
      addSource: (lines) => writeFileSync(`${folder}/sources/murmuration-backports.list`, lines)
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Finds the Debian release that this machine installs from: its name and archive URL. */
const release = (get: (...args: ReadonlyArray<string>) => Outcome) =>
  get("indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI) $(COMPONENT)").words.split("\n")
    .map((line) => line.split(" "))
    .find(([origin, codename = "", , component]) =>
      origin === "Debian" && !codename.includes("-") && component === "main"
    )

/**
 * Installs Debian packages in one call.
 *
 * @param wanted packages without which the call fails
 * @param wished packages that are skipped if neither the release nor its backports have them
 */
export const install = (wanted: ReadonlyArray<string>, wished: ReadonlyArray<string>): Outcome =>
  withLists(({ addSource, get, known }) => {
    const updated = get("update")
    if (!updated.ok) return updated
    if (!wished.every(known)) {
      const [, codename, archive] = release(get) ?? []
      if (codename !== undefined) {
        addSource(`deb ${archive} ${codename}-backports main\n`)
        get("update")
      }
    }
    const packages = [...wanted, ...wished.filter(known)]
    if (packages.length === 0) return { ok: true, words: "" }
    return get("install", "-y", "--no-install-recommends", ...packages)
  })
