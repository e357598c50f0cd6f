import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileErrorReason } from './file-errors.ts'
import type { SettingsProblem } from './problem.ts'

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
export function tlsWarnings(tls: { readonly cert: string }, now: number = Date.now()): SettingsProblem[] {
  const { validFrom, validTo } = new X509Certificate(readFileSync(tls.cert))
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
    const encrypted = error instanceof Error && 'code' in error && error.code === 'ERR_MISSING_PASSPHRASE'
    const kind = path === 'tls.cert' ? 'a certificate' : 'a private key'
    const reason = encrypted
      ? 'is encrypted, but must not have a passphrase'
      : `does not contain ${kind} in PEM format`
    problems.push({ path, message: `${file} ${reason}.` })
    return undefined
  }
}
