import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import { freePort } from "../support/ports.ts"
import { printed } from "../support/Program.ts"
import { DebianRoot, succeed } from "./DebianRoot.ts"
import { startCommand } from "./Unit.ts"

/** Versions of the package, the older first. They only differ in their number. */
const versions = ["0.0.1", "0.0.2"] as const

/** The packages, in the root's folder `/packages`. */
class Packages extends Context.Service<Packages, { readonly path: (version: string) => string }>()(
  "murmuration/test/packages/Packages"
) {
  static readonly layer = Layer.effect(
    Packages,
    Effect.gen(function*() {
      const { folder } = yield* DebianRoot
      for (const version of versions) {
        yield* succeed("ops/debian/build", "--version", version, "--compress", "none", `${folder}/packages`)
      }
      const arch = (yield* succeed("dpkg", "--print-architecture")).trim()
      return { path: (version) => `/packages/murmuration_${version}_${arch}.deb` }
    })
  )
}

const services = Packages.layer.pipe(
  Layer.provideMerge(DebianRoot.layerMounted),
  Layer.provideMerge(NodeServices.layer)
)

const [before, after] = versions
const config = "/etc/murmuration/murmuration.env"
const purge = "murmuration murmuration/purge-data boolean"

layer(services, { excludeTestServices: true })("the Debian package", (it) => {
  /** Starts the server with its unit's command until the scope ends; returns its port. */
  const serving = Effect.gen(function*() {
    const { start } = yield* DebianRoot
    const port = yield* freePort
    const server = yield* start(startCommand({ PORT: String(port) }))
    yield* printed({ child: server.child, out: server.out }, "Murmuration is at")
    return port
  })
  const domainAt = (port: number) =>
    Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v2/instance`)
      const { domain }: { readonly domain: string } = JSON.parse(await response.text())
      return domain
    })

  it.effect("installs with its own user, with a configuration that others cannot read", () =>
    Effect.gen(function*() {
      const { sh, tried } = yield* DebianRoot
      const { path } = yield* Packages
      yield* sh(`dpkg --install ${path(before)}`)
      assert.match(yield* sh("getent passwd murmuration"), /:\/var\/lib\/murmuration:\S*nologin/)
      assert.strictEqual((yield* sh(`stat -c '%a %U:%G' ${config}`)).trim(), "640 root:murmuration")
      assert.strictEqual((yield* sh("stat -c '%a %U' /var/lib/murmuration")).trim(), "750 murmuration")
      assert.strictEqual((yield* sh("dpkg --verify murmuration")).trim(), "")
      yield* sh(`echo 'PUBLIC_URL=https://social.example.org' >> ${config}`)
      const { code, out } = yield* tried("setpriv --reuid=nobody --clear-groups murmuration doctor")
      assert.strictEqual(code, 1)
      assert.include(out, "only root and murmuration may run this")
    }))

  it.effect("serves when started like its unit, and its command creates accounts and backups", () =>
    Effect.scoped(Effect.gen(function*() {
      const { sh } = yield* DebianRoot
      const port = yield* serving
      yield* sh("murmuration account create ada --email ada@example.org --confirmed")
      assert.include(yield* sh("murmuration account show ada"), "ada@example.org")
      assert.strictEqual(yield* domainAt(port), "social.example.org")
      // The service of the nightly backup runs this as the server's user.
      yield* sh("touch -d '8 days ago' /var/backups/murmuration/murmuration-old.tar")
      yield* sh("setpriv --reuid=murmuration --regid=murmuration --init-groups /usr/lib/murmuration/backup")
      assert.match(yield* sh("ls /var/backups/murmuration"), /^murmuration-\d{4}-\d\d-\d\dT\d{6}Z\.tar\n$/)
    })))

  it.effect("keeps data and changed settings in an upgrade", () =>
    Effect.scoped(Effect.gen(function*() {
      const { sh } = yield* DebianRoot
      const { path } = yield* Packages
      yield* sh(`echo 'MAIL_FROM=hello@example.org' >> ${config}`)
      yield* sh(`dpkg --install ${path(after)}`)
      assert.include(yield* sh("dpkg --status murmuration"), `Version: ${after}`)
      assert.include(yield* sh(`cat ${config}`), "MAIL_FROM=hello@example.org")
      assert.strictEqual((yield* sh(`stat -c '%a %U:%G' ${config}`)).trim(), "640 root:murmuration")
      yield* serving
      assert.include(yield* sh("murmuration account show ada"), "ada@example.org")
    })))

  it.effect("keeps data and settings when it is removed, and data when it is purged without a response", () =>
    Effect.gen(function*() {
      const { folder, sh } = yield* DebianRoot
      const fs = yield* FileSystem.FileSystem
      yield* sh("dpkg --remove murmuration")
      assert.isTrue(yield* fs.exists(`${folder}${config}`))
      assert.isFalse(yield* fs.exists(`${folder}/usr/lib/murmuration`))
      yield* sh("dpkg --purge murmuration")
      assert.isFalse(yield* fs.exists(`${folder}${config}`))
      assert.isTrue(yield* fs.exists(`${folder}/var/lib/murmuration/postgres/PG_VERSION`))
      assert.match(yield* sh("getent passwd murmuration"), /^murmuration:/)
    }))

  it.effect("serves kept data after a new installation, and deletes it on the operator's request", () =>
    Effect.gen(function*() {
      const { folder, sh, tried } = yield* DebianRoot
      const { path } = yield* Packages
      const fs = yield* FileSystem.FileSystem
      yield* sh(`dpkg --install ${path(after)}`)
      yield* Effect.scoped(Effect.gen(function*() {
        yield* serving
        assert.include(yield* sh("murmuration account show ada"), "ada@example.org")
      }))
      yield* sh(`echo '${purge} false' | debconf-set-selections && dpkg --purge murmuration`)
      assert.isTrue(yield* fs.exists(`${folder}/var/lib/murmuration/postgres`))
      yield* sh(`dpkg --install ${path(after)}`)
      yield* sh(`echo '${purge} true' | debconf-set-selections && dpkg --purge murmuration`)
      for (
        const place of [
          "/var/lib/murmuration",
          "/var/backups/murmuration",
          "/var/cache/murmuration",
          "/etc/murmuration"
        ]
      ) {
        assert.isFalse(yield* fs.exists(folder + place), place)
      }
      assert.strictEqual((yield* tried("getent passwd murmuration")).code, 2)
    }))
})
