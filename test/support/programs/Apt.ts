import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"

/** How long another installation on this machine is waited for, in seconds. */
const lockSeconds = 600

/** What came of asking apt: `words` are its own, for whoever has to mend it. */
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

/** Whether packages can be installed by this process: Debian's tools, and the rights to use them. */
export const mayInstall = (): boolean => process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")

/**
 * Apt with lists and sources of its own in a temporary folder: what the machine is set up to install from stays as it is,
 * and a list that another process reads at the moment is in nobody's way.
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
    // Apt reads as a user of its own.
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

/** The release of Debian that this machine installs from: its name and the address of its archive. */
const release = (get: (...args: ReadonlyArray<string>) => Outcome) =>
  get("indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI) $(COMPONENT)").words.split("\n")
    .map((line) => line.split(" "))
    .find(([origin, codename = "", , component]) =>
      origin === "Debian" && !codename.includes("-") && component === "main"
    )

/**
 * Installs packages of Debian in one call.
 *
 * @param wanted packages without which the call fails
 * @param wished packages that are left out where neither the release nor its backports have them
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
