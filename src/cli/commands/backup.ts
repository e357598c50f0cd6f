import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import { backUpDatabase, databaseSize } from '../../storage/open-database.ts'
import { CommandError } from '../errors.ts'
import { progressBar, withProgress } from '../output.ts'
import { configuredDatabase } from '../storage.ts'

const usage = `Usage
  weir backup FILE [--overwrite]

Writes a consistent copy of the database to FILE, even while a server is running. When the command
ends, the copy is complete and on disk. Only its owner can read it. On a terminal, a long backup
shows its progress. To restore a backup, stop the server, replace weir.db in the data folder with
the copy, delete weir.db-wal and weir.db-shm next to it, and start the server again.

Arguments
  FILE           the file to write; it must not exist, unless --overwrite is given

Flags
  --overwrite    replace FILE if it exists

Examples
  weir backup /var/backups/weir-monday.db
  weir backup weir.db.copy --overwrite --json

${commonFlagsHelp}`

/** `weir backup`. */
export const command: Command = {
  usage,
  run: subcommand('backup', { flags: { overwrite: 'switch' }, operands: ['FILE'] }, async (call) => {
    const { flags, operands, context } = call
    const database = configuredDatabase(flags, context)
    if (typeof database !== 'string')
      throw new CommandError(
        'weir backup copies a SQLite file, and this gateway stores its data in PostgreSQL. Back it up with ' +
          'pg_dump: pg_dump --format=custom --file=weir.dump "$WEIR_DATABASE". To move it to a SQLite file, use weir copy.',
      )
    const target = resolve(context.cwd, operands[0])
    const size = databaseSize(database)
    if (size === undefined)
      throw new CommandError(`There is no database at ${database}. Choose the data folder with --data.`)
    const partialFile = `${target}.${process.pid}.part`
    const overwrite = flags.overwrite === true
    const backupDone = backUpDatabase(database, target, { overwrite, partialFile })
    await withProgress(backupDone, context, flags.json, () => progressText(sizeOf(partialFile) ?? 0, size))
    const bytes = sizeOf(target) ?? 0
    call.print({ file: target, bytes }, `Backed up the database to ${target} (${megabytes(bytes)}).`)
  }),
}

function sizeOf(file: string): number | undefined {
  return existsSync(file) ? statSync(file).size : undefined
}

/** The size of the copy is not known in advance: SQLite omits free pages. */
function progressText(copied: number, size: number): string {
  const share = Math.min(0.99, copied / size)
  return `Copying  ${progressBar(share)}  ${Math.floor(share * 100)} % of ${megabytes(size)}`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
