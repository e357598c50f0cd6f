import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode, platformFailure } from '../lib/platform-failure.ts'
import type { SettingsProblem } from './problem.ts'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is not a folder',
}

/** Returns why a file cannot be read or written, as a clause without a full stop. */
export function fileErrorReason(error: unknown): string {
  const code = errorCode(error)
  return reasons[code ?? ''] ?? platformFailure(error) ?? code ?? 'unknown reason'
}

/**
 * Returns why a server cannot store these files in the folder, as a sentence, or undefined if it can. A missing folder or
 * file is not a problem: the server creates it.
 */
export function dataFolderProblem(folder: string, files: readonly string[]): string | undefined {
  const existing = nearestExisting(folder)
  if (!statSync(existing, { throwIfNoEntry: false })?.isDirectory()) return `${existing} is not a folder.`
  const folderError = accessErrorCode(existing, constants.W_OK | constants.X_OK)
  if (folderError === 'EROFS') return `${existing} is on a read-only file system.`
  if (folderError !== undefined) return `No permission to write to ${existing}.`
  const existingFiles = files.map((name) => join(folder, name)).filter((file) => existsSync(file))
  const inaccessible = existingFiles.find(
    (file) => accessErrorCode(file, constants.R_OK | constants.W_OK) !== undefined,
  )
  return inaccessible && `No permission to read and write ${inaccessible}.`
}

/** What a server needs at least to start, and to record a few requests. */
const minFreeBytes = 1024 * 1024

/** Returns the problem of a folder whose disk is full, as a sentence, or undefined. Writes nothing. */
export function fullDiskProblem(folder: string): string | undefined {
  const existing = nearestExisting(folder)
  const { blocks, bavail, bsize } = statfsSync(existing)
  // Some network file systems do not know their size.
  if (blocks === 0 || bavail * bsize >= minFreeBytes) return undefined
  return `The disk of ${existing} is full. Free some space, or choose another folder with --data.`
}

/** Returns the error code if the system denies this access, or undefined. */
function accessErrorCode(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    return errorCode(error) ?? 'unknown'
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder))
}

/** Returns why a server cannot use these PEM files; empty if it can. Never shows the content of the key. */
export function tlsProblems(tls: { readonly cert: string; readonly key: string }): SettingsProblem[] {
  const problems: SettingsProblem[] = []
  const cert = readPem('tls.cert', tls.cert, problems)
  const key = readPem('tls.key', tls.key, problems)
  const certificate = cert && parsePem('tls.cert', tls.cert, () => new X509Certificate(cert), problems)
  const privateKey = key && parsePem('tls.key', tls.key, () => createPrivateKey(key), problems)
  if (certificate && privateKey && !certificate.checkPrivateKey(privateKey))
    problems.push({ path: 'tls.key', message: `${tls.key} is not the private key of ${tls.cert}.` })
  return problems
}

/** Returns a warning for a certificate that has expired or is not valid yet: clients will reject it. */
export function tlsWarnings(tls: { readonly cert: string }): SettingsProblem[] {
  const { validFrom, validTo } = new X509Certificate(readFileSync(tls.cert))
  const now = Date.now()
  const warning = (message: string) => [{ path: 'tls.cert', message }]
  if (Date.parse(validTo) < now) return warning(`${tls.cert} expired on ${validTo}.`)
  return Date.parse(validFrom) > now ? warning(`${tls.cert} is not valid before ${validFrom}.`) : []
}

function readPem(path: string, file: string, problems: SettingsProblem[]): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    problems.push({ path, message: `${file} cannot be read: ${fileErrorReason(error)}.` })
    return undefined
  }
}

function parsePem<Part extends KeyObject | X509Certificate>(
  path: string,
  file: string,
  parse: () => Part,
  problems: SettingsProblem[],
): Part | undefined {
  try {
    return parse()
  } catch (error) {
    const encrypted = errorCode(error) === 'ERR_MISSING_PASSPHRASE'
    const kind = path === 'tls.cert' ? 'a certificate' : 'a private key'
    const reason = encrypted
      ? 'is encrypted, but must not have a passphrase'
      : `does not contain ${kind} in PEM format`
    problems.push({ path, message: `${file} ${reason}.` })
    return undefined
  }
}
