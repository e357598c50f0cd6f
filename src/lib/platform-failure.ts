/** What the codes of the system, of the network and of TLS mean, as a clause. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  ECONNABORTED: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'the name of the host could not be resolved',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'it timed out',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the issuer of the certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of the certificate is not trusted',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  ENOENT: 'the file does not exist',
  EEXIST: 'there is a file of this name',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the path is too long',
  ENOTDIR: 'part of the path is not a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EIO: 'the disk cannot be read or written',
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'it is not an address of this machine',
  EINVAL: 'the operating system rejected it',
}

/**
 * Returns why a call of the operating system, of the network or of `fetch` failed, as a clause with the code for a search;
 * undefined for any other error. The platform's own words are for programmers, and change with its version.
 */
export function platformFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'TimeoutError') return 'it timed out'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // Those of databases have their own words.
  if (!systemCode.test(code)) return undefined
  return `${reasons[code] ?? (/CERT|TLS|SSL/.test(code) ? 'TLS failed' : 'the operation failed')} (${code})`
}

const systemCode = /^(E[A-Z]+|EAI_[A-Z]+|ERR_(TLS|SSL)_\w+|\w*CERT\w*|UNABLE_TO_\w+)$/

/** Returns the code of an error of the platform, such as `ENOENT`; undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
