// Builds the pages. `node build.mjs TARGET` writes them into the folder TARGET, `node build.mjs --tests TARGET` the tests, `--bench` the benchmarks.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const COMMON = { bundle: true, format: 'esm', target: 'es2022', jsx: 'automatic', jsxImportSource: 'preact', logLevel: 'warning' };

async function buildPages(target) {
  rmSync(target, { recursive: true, force: true });
  const pages = { ...COMMON, minify: true, legalComments: 'none', outdir: target };
  await build({
    ...pages,
    entryPoints: { app: 'src/main.tsx', style: 'src/styles/style.css' },
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
  });
  await buildStandalone(pages);
  cpSync('src/index.html', join(target, 'index.html'));
  compress(target);
}

/** The viewer in one classic script, for match files that are exported as a page. Only Battlecube's has three.js in it. */
async function buildStandalone(pages) {
  const file = 'src/standalone.tsx';
  await build({ ...pages, entryPoints: { standalone: file }, format: 'iife', external: ['three', 'three/*'] });
  await build({ ...pages, entryPoints: { 'standalone-battlecube': file }, format: 'iife' });
}

/** A compressed copy beside each file, so that the server need not compress anything. */
function compress(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && !path.endsWith('.gz')) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}

/** Scripts for node: the tests, or the benchmarks. */
async function buildScripts(folder, ending, target) {
  rmSync(target, { recursive: true, force: true });
  await build({
    ...COMMON,
    entryPoints: readdirSync(folder).flatMap((name) => (ending.test(name) ? [join(folder, name)] : [])),
    outdir: target,
    outExtension: { '.js': '.mjs' },
    platform: 'node',
    sourcemap: 'inline',
    loader: { '.css': 'empty' },
  });
}

const [first, second] = process.argv.slice(2);
if (first === '--tests') await buildScripts('test', /\.test\.tsx?$/, second);
else if (first === '--bench') await buildScripts('bench', /\.ts$/, second);
else await buildPages(first);
