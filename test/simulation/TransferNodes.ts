import { Effect, Layer } from "effect"
import { AccountActors } from "../../src/actors/account/core/AccountActors.ts"
import * as TransferRunner from "../../src/actors/transfers/TransferRunner.ts"
import { RemotePosts } from "../../src/services/federation/fetching/RemotePosts.ts"
import { KnownUris } from "../../src/services/federation/inbox/KnownUris.ts"
import { RemoteActors } from "../../src/services/federation/RemoteActors.ts"
import { Filters } from "../../src/services/filters/Filters.ts"
import { FileOwners } from "../../src/services/media/FileOwners.ts"
import { Storage } from "../../src/services/media/Storage.ts"
import { StoredFiles } from "../../src/services/media/StoredFiles.ts"
import { ListMembers } from "../../src/services/social/ListMembers.ts"
import { OwnedLists } from "../../src/services/social/OwnedLists.ts"
import { Relationships } from "../../src/services/social/Relationships.ts"
import { Bookmarks } from "../../src/services/statuses/Bookmarks.ts"
import { ArchiveParts } from "../../src/services/transfers/archives/ArchiveParts.ts"
import { ArchiveReader } from "../../src/services/transfers/archives/ArchiveReader.ts"
import { ArchiveRequests } from "../../src/services/transfers/archives/ArchiveRequests.ts"
import { ArchiveWriter } from "../../src/services/transfers/archives/ArchiveWriter.ts"
import { ImportedPosts } from "../../src/services/transfers/archives/ImportedPosts.ts"
import { ImportLines } from "../../src/services/transfers/ImportLines.ts"
import { LiveImports } from "../../src/services/transfers/live/LiveImports.ts"
import { LiveSources } from "../../src/services/transfers/live/LiveSources.ts"
import { TransferQueue } from "../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../src/services/transfers/Transfers.ts"
import type { Machine } from "./Machine.ts"
import type { World } from "./World.ts"

/** The queue; faults can target its commits. */
const queue = (world: World, machine: Machine) =>
  Layer.effect(
    TransferQueue,
    Effect.map(TransferQueue, (real) => {
      const commit: typeof real.commit = (claimed, progress, write = Effect.void) => {
        const performs = Effect.sync(() => {
          world.count("transfer step")
          world.performs(machine, `Transfer:${claimed.id}`)
        })
        return real.commit(claimed, progress, Effect.andThen(performs, write))
      }
      return TransferQueue.of({ ...real, commit })
    })
  ).pipe(Layer.provide(TransferQueue.layer))

/** The actors as transfers use them; their commands are recorded for the model. */
const actors = (world: World) =>
  Layer.effect(
    AccountActors,
    Effect.map(AccountActors, (real) =>
      AccountActors.of({
        ...real,
        tell: (account, command, key) => {
          if (key !== undefined) world.transfers.commands.set(`${command._tag}:${key}`, { account, command })
          return real.tell(account, command, key)
        }
      }))
  )

/** Services that no simulated transfer uses: nothing is fetched, and no file is read or written. */
const unused = Layer.mergeAll(
  Layer.mock(ArchiveParts)({}),
  Layer.mock(ArchiveWriter)({}),
  Layer.mock(LiveImports)({ endAbandoned: Effect.void, redirectUri: "" }),
  Layer.mock(LiveSources)({}),
  Layer.mock(RemoteActors)({}),
  Layer.mock(RemotePosts)({}),
  Layer.mock(Storage)({}),
  Layer.mock(StoredFiles)({})
)

/** Runs transfers on a node. */
export const layer = (world: World, machine: Machine) =>
  TransferRunner.layer.pipe(
    Layer.provide([queue(world, machine), actors(world)]),
    Layer.provide([
      ArchiveReader.layer,
      ArchiveRequests.layer,
      Bookmarks.layer,
      Filters.layer,
      ImportedPosts.layer,
      ImportLines.layer,
      KnownUris.layer,
      ListMembers.layer,
      OwnedLists.layer,
      Relationships.layer,
      Transfers.layer
    ]),
    Layer.provide([FileOwners.layer, unused])
  )
