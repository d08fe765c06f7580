// What the command line does on the data folder itself, by the same rules as the API: no HTTP, no second truth.

import { createPlatform, type Platform, type PlatformOptions } from './platform.ts'

/** Opens the stack without listening, runs `work`, closes it again. */
export async function withPlatform<T>(options: PlatformOptions, work: (platform: Platform) => Promise<T>): Promise<T> {
  const platform = await createPlatform(options)
  try {
    return await work(platform)
  } finally {
    await platform.close()
  }
}
