//! A file system under SQLite that asks a simulated disk before it changes a file.
//!
//! It stands before the library's own one for Unix, which does the work; the store above is the
//! product's, unchanged.
//! INVARIANT: no byte reaches a file, and no sync is reported, but as `disk.rs` answers.
//! It decides nothing about faults. Read next: `disk.rs`.
//!
//! Source: "The OS Interface or VFS", <https://www.sqlite.org/vfs.html>.
#![allow(unsafe_code, reason = "SQLite calls a file system through a table of C functions")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::size_of;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Once, OnceLock};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};

use crate::power::disk::{self, Answer, disk};

/// An open file; the one of the system's file system follows it in memory.
#[repr(C)]
struct Shim {
    base: sqlite3_file,
    /// Owned; null for a file without a name.
    path: *mut PathBuf,
}

/// The system's file system.
struct System(*mut sqlite3_vfs);

// SAFETY: SQLite's own file systems are tables that are never changed after they are registered.
unsafe impl Send for System {}
// SAFETY: as above.
unsafe impl Sync for System {}

static SYSTEM: OnceLock<System> = OnceLock::new();
static REGISTERED: Once = Once::new();

/// Makes all databases of this process go through the simulated disks of their threads.
pub(crate) fn register() {
    REGISTERED.call_once(|| {
        // SAFETY: the first file system is the system's; the copy lives as long as the process.
        unsafe {
            let system = ffi::sqlite3_vfs_find(ptr::null());
            assert!(!system.is_null() && SYSTEM.set(System(system)).is_ok());
            let mut shim = ptr::read(system);
            shim.szOsFile += c_int::try_from(size_of::<Shim>()).unwrap();
            shim.zName = c"simulated".as_ptr();
            shim.pNext = ptr::null_mut();
            shim.xOpen = Some(open);
            shim.xDelete = Some(delete);
            assert_eq!(ffi::sqlite3_vfs_register(Box::leak(Box::new(shim)), 1), ffi::SQLITE_OK);
        }
    });
}

fn system() -> *mut sqlite3_vfs {
    SYSTEM.get().unwrap().0
}

/// The system's file behind a file.
unsafe fn inner(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: `register` made room for it behind the shim.
    unsafe { file.cast::<u8>().add(size_of::<Shim>()).cast() }
}

unsafe fn path<'a>(file: *mut sqlite3_file) -> &'a Path {
    // SAFETY: `open` set it, and `close` has not been called.
    unsafe {
        (*file.cast::<Shim>())
            .path
            .as_ref()
            .map_or(Path::new(""), PathBuf::as_path)
    }
}

unsafe fn named(name: *const c_char) -> Option<PathBuf> {
    // SAFETY: SQLite passes a C string or null.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().unwrap().into())
}

unsafe extern "C" fn open(
    _vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives room for `szOsFile` bytes.
    unsafe {
        (*file).pMethods = ptr::null();
        let code = (*system()).xOpen.unwrap()(system(), name, inner(file), flags, out);
        if code == ffi::SQLITE_OK {
            let path = named(name);
            if let Some(path) = &path {
                disk(|disk| disk.open(path));
            }
            (*file.cast::<Shim>()).path = path.map_or(ptr::null_mut(), |path| Box::into_raw(Box::new(path)));
            (*file).pMethods = &raw const METHODS;
        }
        code
    }
}

unsafe extern "C" fn delete(_vfs: *mut sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite passes a C string.
    unsafe {
        let answer = named(name).map_or(Answer::Done, |path| disk(|disk| disk.remove(&path)));
        match answer {
            Answer::Done => (*system()).xDelete.unwrap()(system(), name, sync),
            Answer::Failed | Answer::Full(_) | Answer::Forgotten => ffi::SQLITE_IOERR_DELETE,
        }
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: the file is open, and SQLite does not use it again.
    unsafe {
        let path = std::mem::replace(&mut (*file.cast::<Shim>()).path, ptr::null_mut());
        if !path.is_null() {
            drop(Box::from_raw(path));
        }
        (*(*inner(file)).pMethods).xClose.unwrap()(inner(file))
    }
}

unsafe extern "C" fn read(file: *mut sqlite3_file, to: *mut c_void, count: c_int, at: i64) -> c_int {
    // SAFETY: the file is open, and the arguments are SQLite's.
    match disk(disk::Disk::read) {
        Answer::Done => unsafe { (*(*inner(file)).pMethods).xRead.unwrap()(inner(file), to, count, at) },
        Answer::Failed | Answer::Full(_) | Answer::Forgotten => ffi::SQLITE_IOERR_READ,
    }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, from: *const c_void, count: c_int, at: i64) -> c_int {
    // SAFETY: SQLite passes `count` bytes.
    unsafe {
        let bytes = std::slice::from_raw_parts(from.cast::<u8>(), usize::try_from(count).unwrap());
        let answer = disk(|disk| disk.write(path(file), usize::try_from(at).unwrap(), bytes));
        let put = |count: c_int| (*(*inner(file)).pMethods).xWrite.unwrap()(inner(file), from, count, at);
        match answer {
            Answer::Done => put(count),
            Answer::Full(written) => {
                put(c_int::try_from(written).unwrap());
                ffi::SQLITE_FULL
            }
            Answer::Failed | Answer::Forgotten => ffi::SQLITE_IOERR_WRITE,
        }
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: i64) -> c_int {
    // SAFETY: the file is open.
    unsafe {
        match disk(|disk| disk.cut(path(file), usize::try_from(length).unwrap())) {
            Answer::Done => (*(*inner(file)).pMethods).xTruncate.unwrap()(inner(file), length),
            Answer::Failed | Answer::Full(_) | Answer::Forgotten => ffi::SQLITE_IOERR_TRUNCATE,
        }
    }
}

/// The simulated disk keeps what is durable, so the real one need not wait.
unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: the file is open.
    match unsafe { disk(|disk| disk.sync(path(file))) } {
        Answer::Done => ffi::SQLITE_OK,
        Answer::Failed | Answer::Full(_) | Answer::Forgotten => ffi::SQLITE_IOERR_FSYNC,
    }
}

/// Functions that only pass a call on.
macro_rules! pass {
    ($($name:ident = $method:ident ( $($argument:ident : $type:ty),* );)*) => {$(
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $type)*) -> c_int {
            // SAFETY: the file is open, and the arguments are SQLite's.
            unsafe { (*(*inner(file)).pMethods).$method.unwrap()(inner(file) $(, $argument)*) }
        }
    )*};
}

pass! {
    file_size = xFileSize(size: *mut i64);
    lock = xLock(level: c_int);
    unlock = xUnlock(level: c_int);
    check_reserved_lock = xCheckReservedLock(out: *mut c_int);
    file_control = xFileControl(operation: c_int, argument: *mut c_void);
    sector_size = xSectorSize();
    device_characteristics = xDeviceCharacteristics();
    shm_map = xShmMap(page: c_int, size: c_int, extend: c_int, out: *mut *mut c_void);
    shm_lock = xShmLock(offset: c_int, count: c_int, flags: c_int);
    shm_unmap = xShmUnmap(delete: c_int);
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: the file is open.
    unsafe { (*(*inner(file)).pMethods).xShmBarrier.unwrap()(inner(file)) }
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};
